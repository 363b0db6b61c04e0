/** OCI images of the sample: layers from trees, an index over the architectures, pushed over HTTP (OCI distribution-spec). */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Arch } from "../../lib/domain/asset.ts";
import type { Descriptor } from "../../lib/oci/types.ts";
import { SAMPLE_EPOCH } from "./releases.ts";
import { type Tree, tarOf } from "./tree.ts";

/** Says "sample, not Talos Linux" on every index, manifest (annotation) and configuration (label). */
const SAMPLE_MARK = { "io.casthouse.sample": "true" };

const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip";

export interface Layer {
  gzip: Buffer;
  digest: string;
  diffId: string;
}

export interface PlatformImage {
  arch: Arch;
  layers: Layer[];
  /** "config" block of the image configuration besides the labels. */
  settings?: Record<string, unknown>;
}

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A gzip layer of a tree. */
export async function layerOf(tree: Tree): Promise<Layer> {
  const tar = await tarOf(tree);
  const gzip = gzipSync(tar, { level: 1 });
  return { gzip, digest: sha256(gzip), diffId: sha256(tar) };
}

/** Pushes an index with one manifest per platform and gives its digest. Blobs that are there already are not sent again. */
export async function pushImage(
  registry: string,
  repository: string,
  tag: string,
  platforms: PlatformImage[],
): Promise<string> {
  const base = `${registry}/v2/${repository}`;
  const manifests: Descriptor[] = [];
  for (const platform of platforms) {
    for (const layer of platform.layers) await pushBlob(base, layer.digest, layer.gzip);
    const config = imageConfig(platform);
    await pushBlob(base, sha256(config), config);
    const manifest = jsonBytes({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: { mediaType: CONFIG_TYPE, digest: sha256(config), size: config.length },
      layers: platform.layers.map((layer) => ({
        mediaType: LAYER_TYPE,
        digest: layer.digest,
        size: layer.gzip.length,
      })),
      annotations: SAMPLE_MARK,
    });
    await pushManifest(base, sha256(manifest), MANIFEST_TYPE, manifest);
    manifests.push({
      mediaType: MANIFEST_TYPE,
      digest: sha256(manifest),
      size: manifest.length,
      platform: { architecture: platform.arch, os: "linux" },
    });
  }
  const index = jsonBytes({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests, annotations: SAMPLE_MARK });
  await pushManifest(base, tag, INDEX_TYPE, index);
  return sha256(index);
}

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function imageConfig(platform: PlatformImage): Buffer {
  return jsonBytes({
    architecture: platform.arch,
    os: "linux",
    created: new Date(SAMPLE_EPOCH * 1000).toISOString(),
    config: { ...platform.settings, Labels: SAMPLE_MARK },
    rootfs: { type: "layers", diff_ids: platform.layers.map((layer) => layer.diffId) },
    history: platform.layers.map(() => ({ created_by: "casthouse sample release" })),
  });
}

async function pushBlob(base: string, digest: string, bytes: Buffer): Promise<void> {
  const known = await fetch(`${base}/blobs/${digest}`, { method: "HEAD" });
  if (known.ok) return;
  const upload = await expectStatus(
    await fetch(`${base}/blobs/uploads/`, { method: "POST" }),
    202,
    "start an upload",
  );
  const location = new URL(upload.headers.get("location") ?? "", base);
  location.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream", "content-length": String(bytes.length) };
  await expectStatus(
    await fetch(location, { method: "PUT", headers, body: new Uint8Array(bytes) }),
    201,
    "store a blob",
  );
}

async function pushManifest(base: string, reference: string, type: string, bytes: Buffer): Promise<void> {
  const reply = await fetch(`${base}/manifests/${reference}`, {
    method: "PUT",
    headers: { "content-type": type },
    body: new Uint8Array(bytes),
  });
  await expectStatus(reply, 201, "store a manifest");
}

async function expectStatus(reply: Response, status: number, intent: string): Promise<Response> {
  const body = await reply.text();
  if (reply.status !== status)
    throw new Error(`the sample registry refused to ${intent}: ${reply.status} ${body}`);
  return reply;
}
