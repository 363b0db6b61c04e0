/** Writes an image as OCI layout, and pushes one to a registry (OCI image-spec "Image Layout", distribution-spec "Pushing"). */
import { createHash } from "node:crypto";
import { copyFile, link, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { IMAGE_MEDIA, imageConfig, imageIndex, imageManifest } from "../../lib/formats/image-documents.ts";
import { SOURCE_DATE_EPOCH } from "../../lib/imager/epoch.ts";
import { type Tree, tarOf } from "../sample-release/tree.ts";

/** Path without leading slash → what is there. */
export type ImageTree = Tree;

export interface LayoutImage {
  dir: string;
  index: { manifests: { digest: string }[] };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const CREATED = new Date(SOURCE_DATE_EPOCH * 1000).toISOString().replace(".000Z", "Z");
const ARCH = process.arch === "arm64" ? "arm64" : "amd64";

/** A packed layer that lies on disk. */
export interface LayerFile {
  path: string;
  /** sha256:<hex> of the gzip file and of what is in it. */
  digest: string;
  diffId: string;
}

const FACTS = "layer.json";

/** Packs a tree into a folder of its own; equal trees give equal bytes. */
export async function writeLayer(dir: string, tree: ImageTree): Promise<void> {
  const tar = await tarOf(tree);
  const gzip = gzipSync(tar, { level: 1 });
  const facts = { digest: `sha256:${sha256(gzip)}`, diffId: `sha256:${sha256(tar)}` };
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "layer.tar.gz"), gzip);
  await writeFile(join(dir, FACTS), JSON.stringify(facts));
}

/** What writeLayer left in a folder. */
export async function readLayer(dir: string): Promise<LayerFile> {
  const facts: Omit<LayerFile, "path"> = JSON.parse(await readFile(join(dir, FACTS), "utf8"));
  return { ...facts, path: join(dir, "layer.tar.gz") };
}

/** An image for this machine's architecture, of layers from below. */
export async function writeImageLayout(
  dir: string,
  layers: LayerFile[],
  settings: Record<string, unknown>,
): Promise<LayoutImage> {
  await mkdir(join(dir, "blobs/sha256"), { recursive: true });
  const placeOf = (digest: string) => join(dir, "blobs/sha256", digest.replace("sha256:", ""));
  const keep = async (mediaType: string, bytes: Uint8Array) => {
    const digest = `sha256:${sha256(bytes)}`;
    await writeFile(placeOf(digest), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const descriptors = [];
  for (const { path, digest } of layers) {
    await link(path, placeOf(digest)).catch(() => copyFile(path, placeOf(digest)));
    descriptors.push({ mediaType: IMAGE_MEDIA.layer, digest, size: (await stat(path)).size });
  }
  const facts = {
    architecture: ARCH,
    created: CREATED,
    base: settings,
    labels: {},
    diffIds: layers.map(({ diffId }) => diffId),
  };
  const config = await keep(IMAGE_MEDIA.config, imageConfig(facts));
  const manifest = await keep(IMAGE_MEDIA.manifest, imageManifest(config, descriptors, {}));
  const entry = { ...manifest, platform: { architecture: ARCH, os: "linux" } };
  await writeFile(join(dir, "index.json"), imageIndex([entry]));
  await writeFile(join(dir, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return { dir, index: { manifests: [entry] } };
}

/** Pushes the layout under a tag and gives the digest of its index. */
export async function pushLayout(
  registry: string,
  repository: string,
  tag: string,
  dir: string,
): Promise<string> {
  const base = `${registry}/v2/${repository}`;
  const index = await readFile(join(dir, "index.json"));
  const { manifests }: LayoutImage["index"] = JSON.parse(index.toString());
  const blob = (digest: string) => readFile(join(dir, "blobs/sha256", digest.replace("sha256:", "")));
  for (const { digest } of manifests) {
    const bytes = await blob(digest);
    const { config, layers }: { config: { digest: string }; layers: { digest: string }[] } = JSON.parse(
      bytes.toString(),
    );
    for (const one of [config, ...layers]) await pushBlob(base, one.digest, await blob(one.digest));
    await put(`${base}/manifests/${digest}`, IMAGE_MEDIA.manifest, bytes);
  }
  await put(`${base}/manifests/${tag}`, IMAGE_MEDIA.index, index);
  return `sha256:${sha256(index)}`;
}

async function pushBlob(base: string, digest: string, bytes: Uint8Array): Promise<void> {
  if ((await fetch(`${base}/blobs/${digest}`, { method: "HEAD" })).ok) return;
  const upload = await fetch(`${base}/blobs/uploads/`, { method: "POST" });
  await upload.arrayBuffer();
  const location = new URL(upload.headers.get("location") ?? "", base);
  location.searchParams.set("digest", digest);
  await put(location.href, "application/octet-stream", bytes);
}

async function put(url: string, type: string, bytes: Uint8Array): Promise<void> {
  const reply = await fetch(url, {
    method: "PUT",
    headers: { "content-type": type },
    body: new Uint8Array(bytes),
  });
  const text = await reply.text();
  if (reply.status !== 201) throw new Error(`the registry refused ${url}: ${reply.status} ${text}`);
}
