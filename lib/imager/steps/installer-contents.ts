/** Step "installer-contents": takes an installer archive, as `docker save` writes it, apart into configuration and layers. */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { IMAGE_MEDIA } from "../../formats/image-documents.ts";
import { fileSha256 } from "../digests.ts";
import { need } from "../params.ts";
import type { StepContext, StepFunction } from "../types.ts";
import { IMAGE_FACTS, type ImageFacts, layerFile } from "./base-image.ts";

const MOST_MEMBERS = 1000;
const MOST_DOCUMENT_BYTES = 4 * 1024 * 1024;
const manifestSchema = z
  .array(z.object({ Config: z.string(), Layers: z.array(z.string()).max(MOST_MEMBERS) }))
  .length(1);
const configSchema = z.record(z.string(), z.unknown());

/** Params: none. Needs: the archive. The product is a folder like an image-layers input. */
export const installerContentsStep: StepFunction = async (_params, needs, ctx) => {
  const members = await unpack(need(needs, 0).path, ctx);
  const tree = join(ctx.dir, "image");
  await mkdir(join(tree, "layers"), { recursive: true });
  const [manifest] = manifestSchema.parse(await readJson(members, "manifest.json"));
  if (manifest === undefined) throw damaged("it names no image");
  const config = configSchema.parse(await readJson(members, manifest.Config));
  const layers: ImageFacts["layers"] = [];
  const placed = new Map<string, ImageFacts["layers"][number]>();
  for (const [index, name] of manifest.Layers.entries()) {
    const target = layerFile(tree, index);
    const file = members.get(name);
    if (file === undefined) throw damaged(`it has no layer ${name}`);
    if (placed.has(name)) throw damaged(`it names the layer ${name} twice`);
    await rename(file, target);
    const layer = await describeLayer(target, ctx.signal);
    placed.set(name, layer);
    layers.push(layer);
  }
  const facts: ImageFacts = { name: "the imager's archive", config, layers };
  await writeFile(join(tree, IMAGE_FACTS), JSON.stringify(facts));
  return { path: tree, shape: "tree" };
};

/** Files of the archive on disk, by the names they have in it. */
async function unpack(archive: string, ctx: StepContext): Promise<Map<string, string>> {
  const folder = join(ctx.dir, "members");
  await mkdir(folder);
  const members = new Map<string, string>();
  const entries = extract();
  const reading = pipeline(createReadStream(archive), entries, { signal: ctx.signal });
  // The loop below sees the same failure first; this keeps it from being an unhandled rejection meanwhile.
  reading.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, type } = entry.header;
      if (type === "file" && members.size < MOST_MEMBERS) {
        const path = join(folder, String(members.size));
        await pipeline(entry, createWriteStream(path), { signal: ctx.signal });
        members.set(name.replace(/^\.\//, ""), path);
      } else entry.resume();
    }
    await reading;
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw damaged(error instanceof Error ? error.message : String(error), error);
  }
  return members;
}

async function readJson(members: ReadonlyMap<string, string>, name: string): Promise<unknown> {
  const path = members.get(name);
  if (path === undefined) throw damaged(`it has no ${name}`);
  const bytes = await readFile(path);
  if (bytes.length > MOST_DOCUMENT_BYTES) throw damaged(`its ${name} is too long`);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw damaged(`its ${name} is not JSON`, cause);
  }
}

async function describeLayer(path: string, signal: AbortSignal): Promise<ImageFacts["layers"][number]> {
  const digest = `sha256:${await fileSha256(path, signal)}`;
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const { size } = await file.stat();
    return { mediaType: mediaTypeOf(buffer), digest, size };
  } finally {
    await file.close();
  }
}

/** By the first bytes of gzip (RFC 1952 §2.3.1) and Zstandard (RFC 8878 §3.1.1). */
function mediaTypeOf(head: Uint8Array): string {
  if (head[0] === 0x1f && head[1] === 0x8b) return IMAGE_MEDIA.layer;
  const zstd = head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd;
  return `application/vnd.oci.image.layer.v1.tar${zstd ? "+zstd" : ""}`;
}

const damaged = (reason: string, cause?: unknown): AppError =>
  new AppError("tool_failed", `the installer archive that the imager made cannot be read: ${reason}`, {
    details: { tool: "imager", exitCode: 0, signal: null, tail: reason },
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  });
