/**
 * `npm run imager-image`: our own imager as an OCI image, made of this machine's Node and Debian packages, without Docker. It
 * does what a published imager image does: `imager -` reads a profile and leaves a file in /out. docs/engines.md uses it.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { type ImageTree, readLayer, writeImageLayout, writeLayer } from "./layout.ts";
import { gatherFiles, packageVersions } from "./packages.ts";

const PROJECT = join(import.meta.dirname, "../..");
const NODE = "usr/local/bin/node";
const PROGRAM = "opt/casthouse/cli.mjs";
/** How the image is started; `-` comes behind it. */
const SETTINGS = {
  Entrypoint: [`/${NODE}`, `/${PROGRAM}`, "imager"],
  Env: [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL=C",
    "NODE_ENV=production",
  ],
  WorkingDir: "/",
};
/** Packages that are bundled ask for Node's own modules in the old way. */
const REQUIRE =
  'import{createRequire as casthouseRequire}from"node:module";const require=casthouseRequire(import.meta.url);';

/** The folder with the image's OCI layout. Tools are packed when Node or a package has changed, the program each time it has. */
export async function ensureImagerImage(log: (line: string) => void = () => {}): Promise<{ dir: string }> {
  const cache = join(PROJECT, ".cache/imager-image");
  await mkdir(cache, { recursive: true });
  const scripts = await Promise.all(
    (await readdir(import.meta.dirname)).sort().map((name) => readFile(join(import.meta.dirname, name))),
  );
  const packages = await packageVersions();
  const tools = await once(
    join(cache, `tools-${keyOf(...scripts, packages.join(), process.version)}`),
    async (dir) => {
      const tree = await toolsTree(packages);
      log(`${tree.size} files of Node and ${packages.length} packages`);
      await writeLayer(dir, tree);
    },
  );
  const program = await bundle();
  const dir = await once(join(cache, `image-${keyOf(tools, program)}`), async (partial) => {
    const own = `${partial}.program`;
    await writeLayer(own, new Map([[PROGRAM, { bytes: program, mode: 0o644 }]]));
    await writeImageLayout(partial, [await readLayer(tools), await readLayer(own)], SETTINGS);
    await rm(own, { recursive: true, force: true });
  });
  await removeOthers(cache, [tools, dir]);
  return { dir };
}

function keyOf(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 32);
}

/** The folder, filled by `work` when it is missing; it appears whole. */
async function once(dir: string, work: (partial: string) => Promise<void>): Promise<string> {
  if (existsSync(dir)) return dir;
  const partial = `${dir}.${process.pid}`;
  try {
    await work(partial);
    // Another process may have been faster, with the same bytes.
    await rename(partial, dir).catch(() => undefined);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return dir;
}

/** Older ones were made of other code or packages; young ones may be somebody's who is at work. */
async function removeOthers(cache: string, kept: string[]): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (!kept.includes(path) && Date.now() - mtimeMs > 3_600_000)
      await rm(path, { recursive: true, force: true });
  }
}

async function bundle(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(PROJECT, "cli/main.ts")],
    absWorkingDir: PROJECT,
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: REQUIRE },
    logLevel: "error",
    outfile: "cli.mjs",
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

async function toolsTree(packages: string[]): Promise<ImageTree> {
  const tree: ImageTree = new Map();
  for (const path of await gatherFiles(packages, [process.execPath]))
    tree.set(path.slice(1), await nodeOf(path));
  // As on Debian since version 12.
  for (const name of ["bin", "sbin", "lib", "lib64"]) tree.set(name, { symlink: `usr/${name}` });
  tree.set("etc/passwd", { bytes: Buffer.from("root:x:0:0:root:/root:/bin/sh\n"), mode: 0o644 });
  tree.set("etc/group", { bytes: Buffer.from("root:x:0:\n"), mode: 0o644 });
  tree.set(NODE, { bytes: await readFile(process.execPath), mode: 0o755 });
  for (const folder of ["tmp", "var/tmp", "root", "run"]) tree.set(folder, { folder: true });
  return tree;
}

async function nodeOf(path: string): Promise<ImageTree extends Map<string, infer N> ? N : never> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) return { symlink: await readlink(path) };
  return { bytes: await readFile(path), mode: stats.mode & 0o111 ? 0o755 : 0o644 };
}

async function main(): Promise<void> {
  const started = Date.now();
  const { dir } = await ensureImagerImage((line) => console.log(line));
  console.log(`OCI layout in ${dir} after ${((Date.now() - started) / 1000).toFixed(1)} s`);
  console.log(`for a registry: skopeo copy oci:${dir} docker://<registry>/<name>:<tag>`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
