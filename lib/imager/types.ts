/** The imager's two halves meet here: a plan is pure data, a step turns it into bytes through one door to the world. */
import type { Arch, AssetProfile } from "../domain/asset.ts";
import type { Phase } from "../domain/build-phases.ts";
import type { ContainerJob } from "../exec/container/types.ts";
import type { RunTool } from "../exec/run.ts";
import type { SigningKeys } from "../formats/signing-keys.ts";

export type { SigningKeys } from "../formats/signing-keys.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Something a plan starts from. The id is what steps name in `needs`. */
export type PlanInput =
  /** One regular file of a source image, for example usr/install/amd64/vmlinuz of the imager image. */
  | { id: string; kind: "image-file"; repository: string; digest: string; arch: Arch; path: string }
  /** All files below a folder of a source image, for example usr/lib/grub/arm64-efi; an empty tree when there are none. */
  | { id: string; kind: "image-folder"; repository: string; digest: string; arch: Arch; path: string }
  /** The whole flattened tree of a source image (an extension, an overlay); "host" is the machine that builds. */
  | { id: string; kind: "image-tree"; repository: string; digest: string; arch: Arch | "host" }
  /** Configuration and layers of a source image as they are: what an installer is built on, or an imager that is run. */
  | { id: string; kind: "image-layers"; repository: string; digest: string; arch: Arch | "host" };

export interface PlanStep {
  /** Unique in the plan, stable, readable: "initramfs", "extension-2", "esp". */
  id: string;
  /** Name of the step module in lib/imager/steps. */
  op: string;
  /** Shown to people. */
  phase: Phase;
  /** One short sentence for people: what happens. */
  title: string;
  /** All that changes the bytes besides the inputs. Canonical JSON of it is part of the key. */
  params: Record<string, Json>;
  /** Input ids and step ids, in the order the step expects. */
  needs: string[];
  /** Content key, lower-case hex SHA-256 over op, op version, params and the keys of needs. */
  key: string;
  /** True: the output is kept as parts/<op>/<key> and reused by other builds. */
  part: boolean;
}

export interface BuildPlan {
  v: 1;
  version: string;
  profile: AssetProfile;
  /** True when the source release is the sample release. */
  sample: boolean;
  inputs: PlanInput[];
  /** Topological order; the last one gives the asset. */
  steps: PlanStep[];
  /** Name under which the asset is kept, where it is not the file that the profile names. */
  fileName?: string;
  /** Key of the last step: the asset key. */
  key: string;
}

/** The output of a step or input: a path in the scratch folder or the parts cache; callers never write to it. */
export interface Product {
  path: string;
  /** "file", or "tree" for a folder. */
  shape: "file" | "tree";
  /** Side data of image trees: SELinux labels by relative path. */
  selinuxLabels?: Record<string, string>;
  /** Files that the product names by digest (sha256:<hex>) and that have to be kept with it. Only of a plan's last step. */
  blobs?: { path: string; digest: string }[];
}

export interface StepContext {
  /** Fresh scratch folder of this step; the step's output is written in it. */
  dir: string;
  run: RunTool;
  signal: AbortSignal;
  /** One log line for people. */
  log: (line: string) => void;
  /** 0 to 100 within this step. */
  progress: (percent: number, note?: string) => void;
  /** Null or missing where nothing can be signed. */
  keys?: SigningKeys | null;
  /** Null or missing where no containers are run. */
  containers?: ImagerContainers | null;
}

/** Runs imager images. */
export interface ImagerContainers {
  /** `image` is an image-layers input; with `secureboot` the program sees the keys that sign. */
  run(image: Product, job: Omit<ContainerJob, "owner" | "keys">, secureboot: boolean): Promise<void>;
}

/** A step: pure in its bytes, given params and needs. Returns its product inside ctx.dir. */
export type StepFunction = (
  params: Record<string, Json>,
  needs: Product[],
  ctx: StepContext,
) => Promise<Product>;

export interface PartCache {
  /** Local product of a cached part, fetched from the object store when only there; null when unknown. */
  find(op: string, key: string, signal: AbortSignal): Promise<Product | null>;
  /** Keeps a product (moved from scratch) locally and in the object store; gives the kept place. */
  keep(op: string, key: string, product: Product, signal: AbortSignal): Promise<Product>;
}

export type BuildProgress =
  | { type: "phase"; phase: Phase; step: number; of: number; title: string; cached: boolean }
  | { type: "progress"; step: number; of: number; percent: number; note?: string }
  | { type: "done"; step: number; ms: number }
  | { type: "log"; line: string };

export interface RunPlanOptions {
  /** Scratch folder of the whole build; removed by the caller. */
  dir: string;
  run: RunTool;
  parts: PartCache;
  /** Materializes an input. */
  fetchInput: (input: PlanInput, signal: AbortSignal) => Promise<Product>;
  onProgress: (event: BuildProgress) => void;
  signal: AbortSignal;
  /** For SecureBoot plans. */
  keys?: SigningKeys | null;
  /** For plans of the container engine. */
  containers?: ImagerContainers | null;
}
