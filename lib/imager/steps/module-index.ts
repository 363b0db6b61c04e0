/** Step "module-index": one modules.dep over the release's own kernel modules and those of all extensions. */
import { copyFile, cp, link, lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import { need, textParam } from "../params.ts";
import type { Product, StepContext, StepFunction } from "../types.ts";
import { copyFollowing } from "./copy-following.ts";
import { extensionOrder, parseExtensionPart, squashfsOf, writeExtensionPart } from "./extension-part.ts";
import { withFolders } from "./made-extensions.ts";
import { type SquashfsEntry, writeSquashfs } from "./squashfs.ts";
import { kernelOf, unsquash } from "./stock-modules.ts";

/** Modules of extensions win over the kernel's own ones of the same name. */
const DEPMOD_CONFIG = "search extras built-in\n";

const MODULE = /\.ko(\.(gz|xz|zst))?$/;

/** Name of the file that says whether there is an index; a product without modules holds nothing else. */
export const MODULE_INDEX_STATE = "state.json";

/**
 * Params: version. Needs: the release's own modules, then the packed extensions in their numbering.
 * The product is a packed extension, or only the state file when no extension brings modules.
 */
export const moduleIndexStep: StepFunction = async (params, needs, ctx) => {
  const version = textParam(params, "version");
  const part = join(ctx.dir, "index");
  await mkdir(part);
  const withModules = await extensionsWithModules(needs.slice(1));
  await writeFile(join(part, MODULE_INDEX_STATE), JSON.stringify({ present: withModules.length > 0 }));
  if (withModules.length === 0) return { path: part, shape: "tree" };

  const modules = quirks(version).kernelModulePath.slice(1);
  const base = join(ctx.dir, "base");
  const merged = await layOutStock(need(needs, 0).path, base, modules);
  for (const [index, extension] of withModules.entries()) {
    await addModules(extension, join(ctx.dir, `modules-${index}`), modules, merged, ctx);
  }
  const order = await runDepmod(base, merged, ctx);
  await writeIndex(part, version, modules, merged, order, ctx);
  return { path: part, shape: "tree" };
};

interface Extension {
  name: string;
  squashfs: string;
}

interface Merged {
  /** Kernel release. */
  release: string;
  /** Folder of that release with everything merged. */
  folder: string;
}

async function extensionsWithModules(parts: Product[]): Promise<Extension[]> {
  const found: Extension[] = [];
  for (const position of extensionOrder(parts.length)) {
    const { path } = need(parts, position);
    const { hasModules, metadata } = await parseExtensionPart(path);
    if (hasModules) found.push({ name: metadata.name, squashfs: squashfsOf(path) });
  }
  return found;
}

/** Lays the modules of the release itself out below `base`, where depmod is to find them. */
async function layOutStock(stock: string, base: string, modules: string): Promise<Merged> {
  const release = await kernelOf(stock);
  const folder = join(base, modules, release);
  await linkTree(join(stock, release), folder);
  await linkOtherPrefix(base, modules);
  return { release, folder };
}

/** Second names for the modules, which nobody writes to; depmod's own files are copied, as they are written anew. */
async function linkTree(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(from, to);
    else if (!MODULE.test(entry.name)) await cp(from, to, { verbatimSymlinks: true });
    else await link(from, to).catch(() => copyFile(from, to));
  }
}

/** kmod is built for /lib/modules on Debian and for /usr/lib/modules elsewhere; both lead to the same folder. */
async function linkOtherPrefix(base: string, modules: string): Promise<void> {
  if (modules.startsWith("usr/")) return symlink("usr/lib", join(base, "lib"));
  await mkdir(join(base, "usr"));
  await symlink("../lib", join(base, "usr/lib"));
}

async function addModules(
  { name, squashfs }: Extension,
  dir: string,
  modules: string,
  merged: Merged,
  ctx: StepContext,
): Promise<void> {
  await unsquash(squashfs, dir, modules, ctx);
  const kernels = (await readdir(join(dir, modules))).sort();
  if (!kernels.includes(merged.release)) {
    throw invalidInput(
      `the extension ${name} has kernel modules for ${kernels.join(", ") || "no kernel"}, the release runs ${merged.release}`,
      { hint: "Choose the extension that was built for this release." },
    );
  }
  await copyFollowing(dir, `${modules}/${merged.release}`, merged.folder);
}

/**
 * Runs depmod. It sorts modules by modules.order and leaves the others as the file system lists them, so for the run
 * every module is named there. Gives the modules.order to deliver, null when there was none.
 */
async function runDepmod(
  base: string,
  { release, folder }: Merged,
  ctx: StepContext,
): Promise<Uint8Array | null> {
  const orderFile = join(folder, "modules.order");
  const original = await readFile(orderFile).catch(() => null);
  const listed = (original?.toString("utf8") ?? "").split("\n").filter(Boolean);
  const known = new Set(listed);
  const others = (await moduleFiles(folder, "")).filter((path) => !known.has(path));
  await writeFile(orderFile, `${[...listed, ...others].join("\n")}\n`);
  const config = join(base, "depmod.conf");
  await writeFile(config, DEPMOD_CONFIG);
  await ctx.run("depmod", ["--all", "--basedir", base, "--config", config, release], { signal: ctx.signal });
  return original;
}

async function moduleFiles(root: string, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(root, prefix), { withFileTypes: true })) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await moduleFiles(root, path)));
    else if (MODULE.test(entry.name)) found.push(path);
  }
  return found.sort();
}

async function writeIndex(
  part: string,
  version: string,
  modules: string,
  { release, folder }: Merged,
  order: Uint8Array | null,
  ctx: StepContext,
): Promise<void> {
  const files: SquashfsEntry[] = [];
  for (const name of (await readdir(folder)).filter((candidate) => candidate.startsWith("modules.")).sort()) {
    const file = join(folder, name);
    const stats = await lstat(file);
    if (!stats.isFile()) continue;
    const path = `${modules}/${release}/${name}`;
    if (name !== "modules.order") files.push({ path, mode: 0o644, content: { file, sizeBytes: stats.size } });
    else if (order !== null) files.push({ path, mode: 0o644, content: { bytes: order } });
  }
  const [first, ...rest] = files;
  if (first === undefined)
    throw new AppError("build_failed", "depmod wrote no module index", {
      hint: "Build without the extensions that bring kernel modules, and report this with the log of the build.",
    });
  const compression = quirks(version).compression;
  await writeSquashfs(squashfsOf(part), [...withFolders(first), ...rest], compression, ctx);
  const metadata = {
    name: "modules.dep",
    version: release,
    author: "Talos Machinery",
    description: "Combined modules.dep for all extensions",
    compatibility: { talos: { version: "" } },
  };
  await writeExtensionPart(part, { metadata, hasModules: true, staged: [], microcode: [] });
}
