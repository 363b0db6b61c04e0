/** Builds disk images from a recipe with real tools and small inputs, for the tests of the disk steps. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { planBuilder } from "../../lib/imager/plan/builder.ts";
import { planImage } from "../../lib/imager/plan/image.ts";
import { bootImage } from "../../lib/imager/steps/boot-image.ts";
import { diskEsp } from "../../lib/imager/steps/disk-esp.ts";
import { diskImage } from "../../lib/imager/steps/disk-image.ts";
import { grubCore } from "../../lib/imager/steps/grub-core.ts";
import { packed, packedPart } from "../../lib/imager/steps/packed.ts";
import { qcow2 } from "../../lib/imager/steps/qcow2.ts";
import type { BuildPlan, PlanStep, Product, StepContext, StepFunction } from "../../lib/imager/types.ts";

const STEPS: Record<string, StepFunction> = {
  "disk-esp": diskEsp,
  "boot-image": bootImage,
  "grub-core": grubCore,
  "disk-image": diskImage,
  qcow2,
  packed,
  "packed-part": packedPart,
};

const MIB = 1024 * 1024;

/** A metal recipe as the domain would resolve it; override what a test is about. */
export function diskRecipe(overrides: Partial<Recipe> = {}): Recipe {
  const image = { repository: "siderolabs/imager", digest: `sha256:${"a".repeat(64)}` };
  return {
    version: "v1.13.0",
    profile: {
      kind: "image",
      platform: "metal",
      arch: "amd64",
      secureboot: false,
      outFormat: "raw",
      disk: { format: "raw", sizeBytes: 1246 * MIB, formatOptions: "" },
    },
    schematicId: "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
    schematicText: "customization: {}\n",
    externalUrl: "http://localhost:3000",
    imager: image,
    baseInstaller: null,
    sample: true,
    extensions: [],
    overlay: null,
    extraKernelArgs: [],
    meta: [],
    embeddedConfig: null,
    bootloader: "dual-boot",
    sectorSize: 512,
    diskSizeBytes: 4_453_302_272,
    enrollKeys: "if-safe",
    includeWellKnownCertificates: false,
    ...overrides,
  };
}

/** The plan of a disk image. */
export function diskPlan(recipe: Recipe): BuildPlan {
  const builder = planBuilder();
  return builder.finish(recipe, planImage(builder, recipe));
}

export interface DiskWorkshop {
  dir: string;
  /** Runs the plan; gives the product of every step by id. Parts of earlier runs are reused. */
  build: (plan: BuildPlan) => Promise<Map<string, Product>>;
  close: () => Promise<void>;
}

/** Inputs by id (kernel, stock-initramfs, sd-boot) and what stands for the steps of other areas. */
export interface WorkshopInputs {
  files: Record<string, string>;
  steps: Record<string, StepFunction>;
}

/** A scratch folder in which plans are run one after the other. */
export async function diskWorkshop(inputs: WorkshopInputs): Promise<DiskWorkshop> {
  const dir = await mkdtemp(join(tmpdir(), "imager-disk-"));
  const run = createRunTool();
  const kept = new Map<string, Product>();
  let counter = 0;
  const context = async (): Promise<StepContext> => {
    const scratch = join(dir, String(counter++));
    await mkdir(scratch);
    return { dir: scratch, run, signal: new AbortController().signal, log: () => {}, progress: () => {} };
  };
  const runStep = async (step: PlanStep, products: Map<string, Product>): Promise<Product> => {
    const known = step.part ? kept.get(step.key) : undefined;
    if (known !== undefined) return known;
    const action = { ...STEPS, ...inputs.steps }[step.op];
    if (action === undefined) throw new Error(`no step ${step.op}`);
    const needs = step.needs.map(
      (id) => products.get(id) ?? { path: `/missing/${id}`, shape: "file" as const },
    );
    const product = await action(step.params, needs, await context());
    if (step.part) kept.set(step.key, product);
    return product;
  };
  const build = async (plan: BuildPlan): Promise<Map<string, Product>> => {
    const products = new Map<string, Product>();
    for (const [id, path] of Object.entries(inputs.files)) products.set(id, { path, shape: "file" });
    for (const step of plan.steps) products.set(step.id, await runStep(step, products));
    return products;
  };
  return { dir, build, close: () => rm(dir, { recursive: true, force: true }) };
}

/** Bytes that no compressor makes smaller, the same for the same seed. */
export function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed | 1;
  for (let at = 0; at < length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}

/** Writes the inputs of a small release: a kernel that half compresses, an initramfs that does not. */
export async function smallInputs(dir: string): Promise<Record<string, string>> {
  const files = {
    kernel: Buffer.concat([Buffer.from("MZ kernel\n".repeat(150_000)), noise(1_500_007, 5)]),
    "stock-initramfs": noise(3_000_011, 7),
    "sd-boot": noise(100_000, 9),
    "sd-stub": noise(50_000, 11),
  };
  const paths: Record<string, string> = {};
  for (const [id, bytes] of Object.entries(files)) {
    paths[id] = join(dir, id);
    await writeFile(join(dir, id), bytes);
  }
  return paths;
}
