/** Opens the extension that a command names: a folder as it is, an archive unpacked with care. */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ARCHES, type Arch } from "../lib/domain/asset.ts";
import type { ExtensionReport } from "../lib/domain/extension-report.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { runTool } from "../lib/exec/run.ts";
import { extensionArchitectures } from "../lib/imager/extension/architecture.ts";
import { checkExtension } from "../lib/imager/extension/check.ts";
import type { CheckedRelease, ExtensionTree } from "../lib/imager/extension/types.ts";
import { unpackExtension } from "../lib/oci/extension-archive.ts";

/** Those of a factory's own default. */
const LIMITS = { maxBytes: 20 * 1024 ** 3, maxEntries: 100_000 };

export interface OpenedExtension {
  tree: ExtensionTree;
  /** Folder that is gone afterwards. */
  scratch: string;
}

/** Hands the tree to `work`; what was unpacked is removed whatever happens. */
export async function withExtension<T>(
  named: string,
  signal: AbortSignal,
  work: (opened: OpenedExtension) => Promise<T>,
): Promise<T> {
  const isFolder = (await stat(named)).isDirectory();
  const scratch = await mkdtemp(join(tmpdir(), "casthouse-extension-"));
  try {
    const tree = isFolder
      ? { dir: named }
      : await unpackExtension(named, join(scratch, "tree"), LIMITS, { run: runTool, signal });
    return await work({ tree, scratch });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The architecture that a flag names; undefined without the flag. */
export function archOf(flag: string | undefined): Arch | undefined {
  const arch = ARCHES.find((one) => one === flag);
  if (flag === undefined || arch !== undefined) return arch;
  throw invalidInput(`--arch ${flag} is not an architecture of Talos`, {
    hint: `Say ${ARCHES.join(" or ")}.`,
  });
}

export interface CheckedExtension {
  platforms: Arch[];
  /** One for each platform. */
  reports: ExtensionReport[];
}

/** Checks for the architecture that is asked for, else for those the extension has programs of. */
export async function checkOpened(
  { tree }: OpenedExtension,
  asked: Arch | undefined,
  release: CheckedRelease | null,
  signal: AbortSignal,
): Promise<CheckedExtension> {
  const platforms = asked === undefined ? await platformsOf(tree, signal) : [asked];
  const reports: ExtensionReport[] = [];
  for (const arch of platforms) reports.push(await checkExtension(tree, { arch, release, signal }));
  return { platforms, reports };
}

/** Without a rootfs there is nothing to read them from; the report says that. */
async function platformsOf(tree: ExtensionTree, signal: AbortSignal): Promise<Arch[]> {
  const rootfs = await stat(join(tree.dir, "rootfs")).catch(() => null);
  return rootfs?.isDirectory() === true ? extensionArchitectures(tree, signal) : ["amd64"];
}
