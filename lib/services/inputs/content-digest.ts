/** One digest over a file, or over everything in a folder, to notice what a power cut or a bad disk did to it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import pLimit from "p-limit";

const FILES_AT_ONCE = 4;

/** SHA-256 in hexadecimal: of a file its bytes; of a folder the names, modes, link targets and bytes of all below it. */
export async function contentDigest(target: string): Promise<string> {
  const info = await lstat(target);
  if (!info.isDirectory()) return fileDigest(target);
  const limit = pLimit(FILES_AT_ONCE);
  const lines = await Promise.all(
    (await namesBelow(target)).map((name) => limit(() => describe(target, name))),
  );
  const hash = createHash("sha256");
  for (const line of lines) hash.update(`${line}\n`);
  return hash.digest("hex");
}

/** SHA-256 of the bytes of a file, in hexadecimal. */
export async function fileDigest(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest("hex");
}

async function namesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries.map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name))).sort();
}

async function describe(dir: string, name: string): Promise<string> {
  const place = path.join(dir, name);
  const info = await lstat(place);
  const content = info.isFile()
    ? await fileDigest(place)
    : info.isSymbolicLink()
      ? await readlink(place)
      : "";
  return JSON.stringify([name, info.mode, content]);
}
