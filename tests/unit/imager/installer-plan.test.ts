/** What an installer image is put together from, read off its plan. */
import { describe, expect, it } from "vitest";
import type { Recipe } from "../../../lib/domain/recipe-types.ts";
import { planAsset } from "../../../lib/imager/plan.ts";
import { recipeFor } from "../../fixtures/recipes.ts";

const signing = { certificate: "c".repeat(64), pcrKey: "d".repeat(64), databases: null };

function installer(version: string, path = "installer-amd64.tar", schematic?: string) {
  const recipe: Recipe = recipeFor(path, version, schematic, { signing });
  const { steps } = planAsset(recipe);
  return {
    files: steps.find(({ op }) => op === "installer-layer")?.params.files,
    layers: steps.at(-1)?.needs,
  };
}

describe("G107 boot files in the layer", () => {
  it.each<[string, string, string[]]>([
    ["v1.14.0", "installer-amd64.tar", ["systemd-boot.efi", "vmlinuz.efi"]],
    ["v1.9.5", "installer-amd64.tar", ["initramfs.xz", "vmlinuz"]],
    ["v1.9.5", "installer-amd64-secureboot.tar", ["systemd-boot.efi", "vmlinuz.efi.signed"]],
  ])("%s %s", (version, path, names) => {
    expect(installer(version, path).files).toEqual(
      names.map((name) => ({ path: `usr/install/amd64/${name}` })),
    );
  });
});

describe("G108 layers", () => {
  it("are base and boot files, with a board its overlay on top", () => {
    expect(installer("v1.13.0").layers).toEqual(["base-installer", "installer-layer"]);
    const board = "overlay: {image: siderolabs/sbc-raspberrypi, name: rpi_generic}\n";
    expect(installer("v1.13.0", "installer-arm64.tar", board).layers).toEqual([
      ...["base-installer", "installer-layer", "overlay-layer"],
    ]);
  });
});
