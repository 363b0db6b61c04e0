/** Plans of the container engine: what the imager is told means the same as the recipe, keys never mix, secrets stay out of sight. */
import { describe, expect, it } from "vitest";
import { completeProfile } from "../../../lib/domain/imager-profile/complete.ts";
import { decodeProfile } from "../../../lib/domain/imager-profile/decode.ts";
import { profileRecipe } from "../../../lib/domain/imager-profile/recipe.ts";
import type { Recipe } from "../../../lib/domain/recipe-types.ts";
import { containerEngine } from "../../../lib/imager/engines/container.ts";
import { planAsset, redactPlan } from "../../../lib/imager/plan.ts";
import type { BuildPlan } from "../../../lib/imager/types.ts";
import { parsePlan } from "../../../lib/services/builds/plan.ts";
import { recipeFor } from "../../fixtures/recipes.ts";

const SCHEMATIC = `customization:
  extraKernelArgs: [-console, "a=b c"]
  meta: [{key: 0xc, value: "machine: one"}]
  secureboot: {enrollKeys: force, includeWellKnownCertificates: true}
`;
const OTHER = { repository: "mirror/imager", digest: `sha256:${"b".repeat(64)}` };
const SIGNING = { certificate: "c".repeat(64), pcrKey: "d".repeat(64), databases: null };
const engine = containerEngine(null);

const PATHS = [
  "initramfs-amd64.xz",
  "metal-amd64-uki.efi",
  "metal-amd64.iso",
  "metal-arm64.iso",
  "metal-amd64-secureboot.iso",
  "metal-arm64.raw.xz",
  "azure-amd64.vhd.zst",
  "gcp-amd64.raw.tar.gz",
  "vmware-amd64.ova",
  "oracle-arm64.qcow2",
  "nocloud-amd64-secureboot.raw.gz",
  "installer-amd64.tar",
  "aws-installer-arm64-secureboot.tar",
];
const VERSIONS = ["v1.9.5", "v1.11.0", "v1.13.2", "v1.14.0-beta.1"];
const CASES = VERSIONS.flatMap((version) => PATHS.map((path): [string, string] => [version, path]));

const recipeOf = (path: string, version: string, schematic = SCHEMATIC): Recipe =>
  recipeFor(path, version, schematic, { signing: SIGNING });

const imagerStep = (plan: BuildPlan) => {
  const step = plan.steps.find(({ op }) => op === "imager-container");
  if (step === undefined) throw new Error("no imager is run");
  return step;
};

describe("the profile an imager is given", () => {
  it.each(CASES)("of %s %s means what the recipe means", (version, path) => {
    const recipe = recipeOf(path, version);
    const profile = completeProfile(
      decodeProfile(String(imagerStep(engine.planAsset(recipe)).params.profile)),
    );
    const back = profileRecipe(profile, {
      imager: recipe.imager,
      baseInstaller: recipe.baseInstaller,
      extensions: recipe.extensions,
      overlay: null,
      overlayInstaller: null,
      signing: recipe.signing ?? null,
      installedGrub: {},
    });
    const meaning = ({ schematicId, schematicText, externalUrl, installedGrub, ...rest }: Recipe) => ({
      ...rest,
      // Other kinds have no boot loader to choose.
      bootloader: rest.profile.kind === "iso" || rest.profile.kind === "image" ? rest.bootloader : null,
      // Installers take no enrol mode, images without SecureBoot none either.
      enrollKeys: ["iso", "image"].includes(rest.profile.kind) ? rest.enrollKeys : "off",
    });
    expect(meaning(back)).toEqual(meaning(recipe));
  });

  it("names inputs by digest only, never by reference", () => {
    const plan = engine.planAsset(recipeOf("metal-amd64.iso", "v1.13.2"));
    expect(String(imagerStep(plan).params.profile)).not.toContain("imageRef");
    for (const input of plan.inputs) expect(input.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe("plans of the container engine", () => {
  it.each(CASES)("of %s %s have keys of their own, which the imager image is part of", (version, path) => {
    const recipe = recipeOf(path, version);
    const keys = [
      planAsset(recipe).key,
      engine.planAsset(recipe).key,
      containerEngine(OTHER).planAsset(recipe).key,
      engine.planAsset({ ...recipe, imager: { ...recipe.imager, digest: `sha256:${"e".repeat(64)}` } }).key,
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(engine.planAsset(recipeOf(path, version)).key).toBe(keys[1]);
  });

  it.each(["kernel-arm64", "cmdline-metal-amd64"])("are the native ones for %s", (path) => {
    const recipe = recipeOf(path, "v1.13.2");
    expect(engine.planAsset(recipe)).toEqual(planAsset(recipe));
  });

  it.each(PATHS)("of %s survive the row they are stored in", (path) => {
    const plan = engine.planAsset(recipeOf(path, "v1.13.2"));
    expect(parsePlan(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it("put the registry's installer together from the imager's layers", () => {
    const plan = engine.planInstallerManifest(recipeOf("installer-amd64.tar", "v1.13.2"));
    expect(plan.fileName).toBe("manifest.json");
    expect(plan.steps.map(({ op }) => op)).toEqual([
      "schematic-archive",
      "imager-container",
      "installer-contents",
      "installer-manifest",
    ]);
  });

  it("show no embedded configuration", () => {
    const secret = "token: hunter2";
    const schematic = `customization:\n  embeddedMachineConfiguration: "${secret}"\n`;
    const plan = engine.planAsset(recipeFor("metal-amd64.iso", "v1.13.2", schematic));
    expect(JSON.stringify(plan)).toContain(secret);
    expect(String(imagerStep(plan).params.profile)).not.toContain(secret);
    expect(JSON.stringify(redactPlan(plan))).not.toContain(secret);
  });

  it("refuse what the native engine refuses", () => {
    const without = recipeFor("metal-amd64-secureboot.iso", "v1.13.2");
    expect(() => engine.planAsset(without)).toThrow("secure boot is disabled");
  });
});
