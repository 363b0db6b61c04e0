/** Builds by the service's own resolving, plans and steps, without database and queue; parts are shared as far as they go. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AssetProfile } from "../../lib/domain/asset.ts";
import type { Release } from "../../lib/domain/release.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { notFound } from "../../lib/errors/app-error.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { readInstalledGrub } from "../../lib/imager/grub-modules.ts";
import { planAsset } from "../../lib/imager/plan.ts";
import { runPlan } from "../../lib/imager/run-plan.ts";
import type { BuildPlan, PartCache, Product } from "../../lib/imager/types.ts";
import { ensureKeys, keyFilesIn } from "../../lib/keys/create-keys.ts";
import { readSecureBootKeys } from "../../lib/keys/read-keys.ts";
import { createSourceImages } from "../../lib/oci/source-images.ts";
import { createAssetResolving } from "../../lib/services/assets/asset-resolving.ts";
import { createInputFetcher } from "../../lib/services/inputs/input-fetcher.ts";
import { LocalCache } from "../../lib/services/inputs/local-cache.ts";
import { createOverlayProfiles } from "../../lib/services/inputs/overlay-profiles.ts";
import { lookAtTags, readRelease } from "../../lib/services/releases/reading.ts";
import { ensureSampleRelease, startSampleRegistry } from "../sample-release/index.ts";

const SCHEMATIC = "customization: {}\n";
const SCHEMATIC_ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
/** Steps whose product several files of a group are made of. */
const GROUP_OPS = new Set(["uki", "disk-esp", "boot-image", "disk-image"]);

export interface GroupShop {
  dir: string;
  /** Builds one file. Rejects with AppError for what is refused. */
  build(version: string, path: string): Promise<{ file: string; profile: AssetProfile }>;
  close(): Promise<void>;
}

export interface TableFactory {
  /** PEM of the certificate that signs. */
  certificateFile: string;
  /** A folder whose parts serve one group and go with it. */
  openGroup(): Promise<GroupShop>;
  close(): Promise<void>;
}

/** Everything under `root`; the sample release is made when it is missing. */
export async function openTableFactory(root: string): Promise<TableFactory> {
  const { registryDir } = await ensureSampleRelease({ log: (line) => console.log(line) });
  const registry = await startSampleRegistry({ registryDir });
  const run = createRunTool();
  const cacheDir = join(root, "blobs");
  const images = createSourceImages({ registry: registry.url, verify: { kind: "off" }, cacheDir, run });
  const { keys, certificateFile } = await makeKeys(root);
  const resolve = createAssetResolving({
    schematics: {
      find: async (id) => ({ id, canonical: SCHEMATIC, schematic: parseSchematic(SCHEMATIC) }),
    },
    releases: { require: releaseReader({ images, registry: registry.url, publicName: "ghcr.io" }) },
    planAsset,
    externalUrl: "http://localhost:3000",
    overlayProfiles: createOverlayProfiles(images),
    installedGrub: await readInstalledGrub(),
    signing: keys.identity,
  });
  const fetcher = createInputFetcher({ images, cache: inputCache(join(root, "inputs")) });
  const shared = folderParts(join(root, "parts"));

  async function build(dir: string, parts: PartCache, version: string, path: string) {
    const { plan: served, profile } = await resolve({ schematicId: SCHEMATIC_ID, version, path });
    const plan = keepingMore(served);
    const { path: file } = await runPlan(plan, {
      ...{ dir: await mkdtemp(join(dir, "build-")), run, parts, keys },
      fetchInput: fetcher(plan),
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    return { file, profile };
  }

  return {
    certificateFile,
    close: () => registry.stop(),
    async openGroup() {
      const dir = await mkdtemp(join(root, "group-"));
      const parts = divided(folderParts(join(dir, "parts")), shared);
      return {
        dir,
        close: () => rm(dir, { recursive: true, force: true }),
        build: (version, path) => build(dir, parts, version, path),
      };
    },
  };
}

const inputCache = (dir: string): LocalCache =>
  new LocalCache({
    ...{ dir, maxBytes: 20 * 2 ** 30, minIdleMs: 3_600_000 },
    onError: (error) => console.error(error),
  });

async function makeKeys(root: string) {
  const folder = join(root, "keys");
  await ensureKeys(folder, new Date());
  const keys = await readSecureBootKeys(keyFilesIn(folder));
  const certificateFile = join(root, "certificate.pem");
  await writeFile(certificateFile, keys.certificatePem);
  return { keys, certificateFile };
}

function releaseReader(context: Parameters<typeof lookAtTags>[0]): (version: string) => Promise<Release> {
  const known = new Map<string, Promise<Release>>();
  const read = async (version: string): Promise<Release> => {
    const look = await lookAtTags(context, version);
    if (!look.ok) throw notFound(`the sample has no ${version}`);
    return readRelease(context, version, look.inputs);
  };
  return (version) => {
    const release = known.get(version) ?? read(version);
    known.set(version, release);
    return release;
  };
}

/** The plan with more of its steps kept, but never the last, which is the file itself. */
function keepingMore(plan: BuildPlan): BuildPlan {
  const last = plan.steps.at(-1);
  return {
    ...plan,
    steps: plan.steps.map((step) =>
      step !== last && (GROUP_OPS.has(step.op) || step.op === "initramfs") ? { ...step, part: true } : step,
    ),
  };
}

/** What depends on the platform is kept for the group, everything else for the whole run. */
function divided(own: PartCache, shared: PartCache): PartCache {
  const cacheOf = (op: string) => (GROUP_OPS.has(op) ? own : shared);
  return {
    find: (op, ...rest) => cacheOf(op).find(op, ...rest),
    keep: (op, ...rest) => cacheOf(op).keep(op, ...rest),
  };
}

function folderParts(root: string): PartCache {
  const kept = new Map<string, Product>();
  return {
    find: (op, key) => Promise.resolve(kept.get(`${op}/${key}`) ?? null),
    async keep(op, key, product) {
      const name = `${op}/${key}`;
      const other = kept.get(name);
      // Two groups at the same time may make the same part.
      if (other !== undefined) return other;
      const part = { ...product, path: join(root, op, `${key}-${randomUUID()}`) };
      await mkdir(dirname(part.path), { recursive: true });
      await rename(product.path, part.path);
      if (!kept.has(name)) kept.set(name, part);
      return part;
    },
  };
}
