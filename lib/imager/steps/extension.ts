/** Step "extension": an extension image becomes a squashfs, with microcode and firmware taken out for the initramfs. */
import { lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import { parseVersionLeniently } from "../../domain/versions.ts";
import { invalidInput } from "../../errors/app-error.ts";
import { type ExtensionMetadata, parseExtensionManifest } from "../../formats/extension-manifest.ts";
import { isInVersionRange } from "../../formats/version-range.ts";
import { need, textParam } from "../params.ts";
import type { Product, StepContext, StepFunction } from "../types.ts";
import { copyFollowing } from "./copy-following.ts";
import {
  type ExtensionPart,
  microcodeFolder,
  squashfsOf,
  stagedFolder,
  writeExtensionPart,
} from "./extension-part.ts";
import { resolveInside, type TreeEntry, walkTree } from "./file-tree.ts";
import { type SquashfsEntry, writeSquashfs } from "./squashfs.ts";
import { writePieces } from "./write-pieces.ts";

const MANIFEST_LIMIT_BYTES = 1024 * 1024;

/** Microcode the kernel looks for in the early archive, and which files of an extension go into it. */
const MICROCODE = [
  { blob: "GenuineIntel.bin", folder: "intel-ucode", file: /./ },
  { blob: "AuthenticAMD.bin", folder: "amd-ucode", file: /^microcode_amd.*\.bin$/ },
];

/** Params: version, name. Needs: the image tree. */
export const extensionStep: StepFunction = async (params, needs, ctx) => {
  const version = textParam(params, "version");
  const name = textParam(params, "name");
  const tree = need(needs, 0);
  const rules = quirks(version);
  await checkTopLevel(tree.path, name);
  const metadata = await readManifest(tree.path, name);
  checkCompatibility(metadata, name, version);

  const root = join(tree.path, "rootfs");
  const firmware = rules.firmwarePath.slice(1);
  const entries = await walkTree(root);
  const part = join(ctx.dir, "extension");
  await mkdir(part);
  const microcode = await packMicrocode(root, firmware, part, ctx);
  const staged = await stageFirmware(root, entries, firmware, microcode.taken, part);
  const kept = entries.filter(({ path }) => path !== firmware && !path.startsWith(`${firmware}/`));
  await writeSquashfs(squashfsOf(part), await squashfsEntries(root, kept, tree), rules.compression, ctx);
  const modules = rules.kernelModulePath.slice(1);
  const hasModules = entries.some(({ path, kind }) => path === modules && kind === "folder");
  await writeExtensionPart(part, { metadata, hasModules, staged, microcode: microcode.blobs });
  return { path: part, shape: "tree" };
};

async function checkTopLevel(tree: string, name: string): Promise<void> {
  const names = (await readdir(tree)).sort();
  const unexpected = names.find((entry) => entry !== "manifest.yaml" && entry !== "rootfs");
  if (unexpected !== undefined) {
    throw invalidInput(`unexpected file ${JSON.stringify(unexpected)} in the extension ${name}`, {
      hint: "An extension image holds exactly manifest.yaml and rootfs/.",
    });
  }
  const manifest = await lstat(join(tree, "manifest.yaml")).catch(() => null);
  if (!manifest?.isFile()) throw invalidInput(`the extension ${name} has no manifest.yaml`);
  const rootfs = await lstat(join(tree, "rootfs")).catch(() => null);
  if (!rootfs?.isDirectory()) throw invalidInput(`the extension ${name} has no folder rootfs`);
}

async function readManifest(tree: string, name: string): Promise<ExtensionMetadata> {
  const path = join(tree, "manifest.yaml");
  if ((await lstat(path)).size > MANIFEST_LIMIT_BYTES) {
    throw invalidInput(`manifest.yaml of the extension ${name} is larger than 1 MiB`);
  }
  return parseExtensionManifest(await readFile(path, "utf8"));
}

function checkCompatibility(metadata: ExtensionMetadata, name: string, version: string): void {
  const range = metadata.compatibility.talos.version;
  const target = parseVersionLeniently(version);
  if (range === "" || target === null) return;
  const fits = isInVersionRange(range, target);
  if (fits === true) return;
  const why = fits === null ? `cannot be read: ${range}` : `is ${range}`;
  throw invalidInput(
    `the extension ${name} does not fit ${version}: the range of versions it declares ${why}`,
    {
      hint: "Choose a version of the extension that is made for this release.",
    },
  );
}

async function packMicrocode(
  root: string,
  firmware: string,
  part: string,
  ctx: StepContext,
): Promise<{ blobs: string[]; taken: Set<string> }> {
  const taken = new Set<string>();
  const blobs: string[] = [];
  for (const { blob, folder, file } of MICROCODE) {
    const names = await readdir(join(root, firmware, folder)).catch(() => []);
    const pieces: { file: string }[] = [];
    for (const name of names.filter((candidate) => file.test(candidate)).sort()) {
      const path = `${firmware}/${folder}/${name}`;
      const real = await resolveInside(root, path);
      if (real === null || !(await lstat(real)).isFile()) continue;
      taken.add(path);
      pieces.push({ file: real });
    }
    if (pieces.length === 0) continue;
    await mkdir(microcodeFolder(part), { recursive: true });
    await writePieces(join(microcodeFolder(part), blob), pieces, ctx.signal);
    blobs.push(blob);
  }
  return { blobs, taken };
}

async function stageFirmware(
  root: string,
  entries: TreeEntry[],
  firmware: string,
  taken: Set<string>,
  part: string,
): Promise<ExtensionPart["staged"]> {
  if (!entries.some(({ path, kind }) => path === firmware && kind === "folder")) return [];
  const copied = await copyFollowing(root, firmware, join(stagedFolder(part), firmware), (path) =>
    taken.has(path),
  );
  const parents = firmware.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));
  return [
    ...parents.map((path) => ({ path, folder: true })),
    ...copied.map(({ path, folder }) => ({ path: `${firmware}/${path}`, folder })),
  ];
}

async function squashfsEntries(root: string, entries: TreeEntry[], tree: Product): Promise<SquashfsEntry[]> {
  const labels = new Map(
    Object.entries(tree.selinuxLabels ?? {}).map(([path, label]) => [
      path.replace(/^(\.?\/)+|\/+$/g, ""),
      label,
    ]),
  );
  const labelled = (path: string): { label?: string } => {
    const label = labels.get(path === "" ? "rootfs" : `rootfs/${path}`);
    return label === undefined ? {} : { label };
  };
  const top = {
    path: "",
    mode: (await lstat(root)).mode & 0o7777,
    content: "folder" as const,
    ...labelled(""),
  };
  return [
    top,
    ...entries.map(({ path, kind, mode, sizeBytes, linkTo }): SquashfsEntry => {
      const content: SquashfsEntry["content"] =
        kind === "folder"
          ? "folder"
          : kind === "link"
            ? { linkTo: linkTo ?? "" }
            : { file: join(root, path), sizeBytes };
      return { path, mode: kind === "link" ? 0o777 : mode, content, ...labelled(path) };
    }),
  ];
}
