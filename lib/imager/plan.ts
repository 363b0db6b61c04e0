/** From a resolved recipe to the plan of its asset: inputs with digests, steps with content keys. Pure. */
import { imagerFileName } from "../domain/asset-path.ts";
import { composeCmdline } from "../domain/cmdline.ts";
import { quirks } from "../domain/quirks.ts";
import type { Recipe } from "../domain/recipe-types.ts";
import { invalidInput } from "../errors/app-error.ts";
import { type PlanBuilder, planBuilder } from "./plan/builder.ts";
import { planCommandLine } from "./plan/command-line.ts";
import { planImage } from "./plan/image.ts";
import { addInitramfs, isStockInitramfs } from "./plan/initramfs.ts";
import { addKernel } from "./plan/inputs.ts";
import { addInstallerArchive, addInstallerManifest } from "./plan/installer.ts";
import { addIso } from "./plan/iso.ts";
import { addUki } from "./plan/uki.ts";
import type { BuildPlan, Json } from "./types.ts";

/**
 * The plan for the asset of `recipe`. Equal recipes give equal plans; what does not change the bytes does not change
 * the key. Throws invalid_input for what a release cannot have.
 */
export function planAsset(recipe: Recipe): BuildPlan {
  const b = planBuilder();
  return b.finish(recipe, addCompressed(b, recipe, addAsset(b, recipe)));
}

/**
 * The plan for the installer image of one platform as the registry holds it: the asset is its manifest, with the blobs
 * beside it. Takes recipes of kind installer.
 */
export function planInstallerManifest(recipe: Recipe): BuildPlan {
  const b = planBuilder();
  return { ...b.finish(recipe, addInstallerManifest(b, recipe)), fileName: "manifest.json" };
}

function addAsset(b: PlanBuilder, recipe: Recipe): string {
  switch (recipe.profile.kind) {
    case "kernel":
      return addCopy(b, addKernel(b, recipe));
    case "cmdline":
      return b.step({
        id: "command-line",
        op: "command-line",
        phase: "fetch",
        title: "Write the kernel command line",
        params: { text: composeCmdline(recipe) },
        needs: [],
        part: false,
      });
    case "initramfs":
      return isStockInitramfs(recipe) ? addCopy(b, addInitramfs(b, recipe)) : addInitramfs(b, recipe);
    case "uki":
      if (!quirks(recipe.version).uki) {
        throw invalidInput(`${recipe.version} has no unified kernel images`, {
          hint: "They exist from v1.5.0 on.",
        });
      }
      return addUki(b, recipe, planCommandLine(b, recipe), []);
    case "iso":
      return addIso(b, recipe);
    case "image":
      return planImage(b, recipe);
    case "installer":
      return addInstallerArchive(b, recipe);
  }
}

/** Disk images are compressed by their own plan, which knows what lies in them. */
function addCompressed(b: PlanBuilder, { profile }: Recipe, asset: string): string {
  if (profile.kind === "image" || profile.outFormat === "raw") return asset;
  return b.step({
    id: "packed",
    op: "packed",
    phase: "compress",
    title: "Compress the file",
    params: { format: profile.outFormat, name: imagerFileName(profile) },
    needs: [asset],
    part: false,
  });
}

const addCopy = (b: PlanBuilder, file: string): string =>
  b.step({
    id: "copy",
    op: "copy",
    phase: "fetch",
    title: "Take the file as it is",
    params: {},
    needs: [file],
    part: false,
  });

/** The plan as it may be shown or logged: an embedded machine configuration is replaced by its length. Keys stay. */
export function redactPlan(plan: BuildPlan): BuildPlan {
  const secret = plan.steps.some(
    ({ op, params }) => op === "embedded-config" || (op === "imager-container" && params.config !== null),
  );
  if (!secret) return plan;
  const hide = (value: Json | undefined): Json =>
    `(secret, ${typeof value === "string" ? value.length : 0} characters)`;
  return {
    ...plan,
    steps: plan.steps.map((step) => {
      // The schematic text repeats the configuration.
      const name = {
        "embedded-config": "config",
        "imager-container": "config",
        "schematic-extension": "schematicText",
        "schematic-archive": "schematicText",
      }[step.op];
      return name === undefined
        ? step
        : { ...step, params: { ...step.params, [name]: hide(step.params[name]) } };
    }),
  };
}
