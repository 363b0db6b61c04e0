/** Looks into images of own sources: unpacks them for the checks, and knows the kernel of a release. */
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import path from "node:path";
import { LRUCache } from "lru-cache";
import type { Arch } from "../../domain/asset.ts";
import type { ExtensionReport } from "../../domain/extension-report.ts";
import type { Release } from "../../domain/release.ts";
import { KERNEL_HEAD_BYTES, kernelRelease } from "../../formats/kernel-release.ts";
import type { CheckedRelease, CheckOptions, ExtensionTree } from "../../imager/extension/types.ts";
import type { SourceImages } from "../../oci/types.ts";

export interface InspectionOptions {
  images: Pick<SourceImages, "extract">;
  check: (tree: ExtensionTree, options: CheckOptions) => Promise<ExtensionReport>;
  /** Made when it is missing. */
  scratchDir: string;
  maxBytes: number;
}

const KERNELS = 200;
const MOST_ENTRIES = 200_000;

export type Inspection = ReturnType<typeof createInspection>;

type InScratch = <T>(work: (dir: string) => Promise<T>) => Promise<T>;

/** The looks of one process. */
export function createInspection({ images, check, scratchDir, maxBytes }: InspectionOptions) {
  const inScratch = <T>(work: (dir: string) => Promise<T>) => workIn(scratchDir, work);
  const facts = knownFacts(images, inScratch);
  return {
    inScratch,
    facts,
    /** Reports of an image, one for each of its platforms. `release` null: against none. `from`: not our registry. */
    async reports(
      image: { repository: string; digest: string; platforms: readonly Arch[] },
      release: Release | null,
      signal: AbortSignal,
      from = images,
    ): Promise<ExtensionReport[]> {
      const limits = { maxBytes, maxEntries: MOST_ENTRIES, signal };
      const reports: ExtensionReport[] = [];
      for (const arch of image.platforms) {
        const checked = release === null ? null : await facts(release, arch, signal);
        const report = await inScratch(async (dir) => {
          const { repository, digest } = image;
          const tree = await from.extract(repository, digest, arch, path.join(dir, "tree"), limits);
          return check(tree, { arch, release: checked, signal });
        });
        reports.push(report);
      }
      return reports;
    },
  };
}

/** Facts of a release for the checks; the kernel of an arm64 image names no release, so there it is not known. */
function knownFacts(images: InspectionOptions["images"], inScratch: InScratch) {
  const kernels = new LRUCache<string, { release: string | null }>({ max: KERNELS });
  return async (release: Release, arch: Arch, signal: AbortSignal): Promise<CheckedRelease> => {
    const { imager, version } = release;
    const key = `${imager.digest} ${arch}`;
    const known = kernels.get(key);
    if (known !== undefined) return { version, kernel: known.release };
    const file = `usr/install/${arch}/vmlinuz`;
    const kernel = await inScratch(async (dir) => {
      const limits = { filter: (entry: string) => entry === file, signal };
      await images.extract(imager.repository, imager.digest, arch, path.join(dir, "tree"), limits);
      return kernelRelease(await readHead(path.join(dir, "tree", file)));
    });
    kernels.set(key, { release: kernel });
    return { version, kernel };
  };
}

async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return new Uint8Array();
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(KERNEL_HEAD_BYTES), 0, KERNEL_HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Works in a folder that is gone afterwards. */
async function workIn<T>(scratchDir: string, work: (dir: string) => Promise<T>): Promise<T> {
  await mkdir(scratchDir, { recursive: true });
  const dir = await mkdtemp(path.join(scratchDir, "own-"));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
