/** Every board resolves to a recipe where its release has the overlay, and says from when on where it has not. */
import { describe, expect, it } from "vitest";
import { BOARDS, FIRST_BOARD_VERSION } from "../../../lib/domain/boards.ts";
import { AppError } from "../../../lib/errors/app-error.ts";
import { planAsset } from "../../../lib/imager/plan.ts";
import { recipeFor } from "../../fixtures/recipes.ts";
import { fakeRelease } from "../../fixtures/releases.ts";

const schematic = ({ overlayName, overlayImage }: (typeof BOARDS)[number]): string =>
  `overlay:\n    image: ${overlayImage}\n    name: ${overlayName}\ncustomization: {}\n`;
const PATHS = [
  "metal-arm64.raw.xz",
  "metal-arm64.iso",
  "metal-arm64-uki.efi",
  "initramfs-arm64.xz",
  "installer-arm64.tar",
];

it("there are 29", () => expect(BOARDS).toHaveLength(29));

describe.each(BOARDS)("$label", (board) => {
  it("has a plan for every file", () => {
    const version = "v1.13.2";
    const entry = {
      name: board.overlayName,
      image: board.overlayImage,
      ref: `ghcr.io/${board.overlayImage}:v1`,
      digest: `sha256:${"7".repeat(64)}`,
    };
    const release = { ...fakeRelease(version), overlays: [entry] };
    for (const path of PATHS) {
      const changes = { release, overlayProfile: { bootloader: "grub" as const } };
      const recipe = recipeFor(
        path,
        version,
        schematic(board),
        path.endsWith(".iso") ? { release } : changes,
      );
      expect(recipe.overlay?.entry).toEqual(entry);
      const ids = planAsset(recipe).steps.map(({ id }) => id);
      expect(ids.includes("board-files")).toBe(path.endsWith(".raw.xz"));
      expect(ids.includes("board-options")).toBe(!path.startsWith("initramfs"));
    }
  });

  it("is refused by releases without its overlay; those before the board name the first one with it", () => {
    const refusal = (version: string): AppError => {
      const release = { ...fakeRelease(version), overlays: [] };
      try {
        recipeFor("metal-arm64.raw.xz", version, schematic(board), { release });
      } catch (error) {
        if (error instanceof AppError) return error;
      }
      throw new Error("not refused");
    };
    const first = board.minVersion ?? FIRST_BOARD_VERSION;
    expect(refusal("v1.7.0").message).toContain(
      `"${board.overlayName}" is not available for Talos version v1.7.0`,
    );
    const isLater = Number(first.split(".")[1]) > 7;
    expect(refusal("v1.7.0").extra.hint?.includes(`is offered from Talos ${first} on`)).toBe(isLater);
    expect(refusal("v1.14.0").extra.hint).not.toContain("is offered from");
  });
});
