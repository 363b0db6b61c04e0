/** Takes an installer and what is said about it to a registry outside. */
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { z } from "zod";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { digestHex } from "../../domain/digest.ts";
import type { RegistryBlob, RegistryManifest } from "../../domain/registry-content.ts";
import type { RegistryPush } from "../../oci/registry-push.ts";
import { signatureTag } from "../../oci/signature.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import { referrersIndex } from "./referrers.ts";

export interface ImagePushOptions {
  push: RegistryPush;
  rows: Pick<RegistryRepository, "findTag" | "findManifest" | "referrers">;
  store: Pick<ObjectStore, "get">;
}

export interface OutsideImage {
  repository: string;
  tag: string;
  digest: string;
}

const PARALLEL_BLOBS = 4;
const HOMES = 20_000;

const descriptor = z.object({ digest: z.string(), size: z.int().nonnegative() });
const contentSchema = z.object({
  manifests: z.array(descriptor).optional(),
  config: descriptor.optional(),
  layers: z.array(descriptor).optional(),
});

/** Pushes what is missing there of an image; nothing is asked or pushed for one that is not here any more. */
export function createImagePush(
  options: ImagePushOptions,
): (image: OutsideImage, signal: AbortSignal) => Promise<void> {
  const { push, rows } = options;
  /** Repository that a blob was pushed to last, to mount it from. */
  const homes = new LRUCache<string, string>({ max: HOMES });

  return async (image, signal) => {
    const { repository, tag, digest } = image;
    const index = await rows.findManifest(repository, digest);
    if (index === null || (await isComplete(options, image))) return;
    const content = await contentOf(rows, repository, index);
    const limit = pLimit(PARALLEL_BLOBS);
    await Promise.all(
      blobsOf(content).map((blob) => limit(() => pushBlob(options, homes, repository, blob, signal))),
    );
    // Blobs, then manifests, then what is said about them; the tag of the image comes last.
    for (const { manifest } of content.subjects)
      await push.putManifest(repository, manifest.digest, manifest, signal);
    for (const subject of content.subjects) await pushStatements(push, repository, subject, signal);
    for (const signature of content.signatures)
      await push.putManifest(repository, signature.tag, signature.manifest, signal);
    await push.putManifest(repository, tag, index, signal);
  };
}

/** The tags that make an image complete, with their digests: its own and, where it is signed, that of its signature. */
export async function tagsOfImage(
  rows: Pick<RegistryRepository, "findTag">,
  { repository, tag, digest }: OutsideImage,
): Promise<{ tag: string; digest: string }[]> {
  const signature = await rows.findTag(repository, signatureTag(digest));
  return [{ tag, digest }, ...(signature === null ? [] : [signature])];
}

/** Asked with credentials: a registry that serves nobody else still is not pushed to again and again. */
async function isComplete({ push, rows }: ImagePushOptions, image: OutsideImage): Promise<boolean> {
  const expected = await tagsOfImage(rows, image);
  const found = await Promise.all(
    expected.map(({ tag }) => push.look(image.repository, "manifests", tag, false)),
  );
  return found.every((one, at) => one.state === "present" && one.digest === expected[at]?.digest);
}

interface Subject {
  manifest: RegistryManifest;
  /** What is said about it. */
  statements: RegistryManifest[];
}

interface ImageContent {
  /** The platforms, then the index that lists them. */
  subjects: Subject[];
  signatures: { tag: string; manifest: RegistryManifest }[];
}

async function contentOf(
  rows: ImagePushOptions["rows"],
  repository: string,
  index: RegistryManifest,
): Promise<ImageContent> {
  const entries = parse(index).manifests ?? [];
  const platforms = await Promise.all(entries.map(({ digest }) => rows.findManifest(repository, digest)));
  const manifests = [...platforms.filter((one) => one !== null), index];
  const subjects = manifests.map(async (manifest) => ({
    manifest,
    statements: await rows.referrers(repository, manifest.digest),
  }));
  const signatures = manifests.map(async ({ digest }) => {
    const tag = await rows.findTag(repository, signatureTag(digest));
    const manifest = tag && (await rows.findManifest(repository, tag.digest));
    return tag && manifest ? [{ tag: tag.tag, manifest }] : [];
  });
  return { subjects: await Promise.all(subjects), signatures: (await Promise.all(signatures)).flat() };
}

/** Every blob once. */
function blobsOf({ subjects, signatures }: ImageContent): RegistryBlob[] {
  const manifests = [
    ...subjects.flatMap(({ manifest, statements }) => [manifest, ...statements]),
    ...signatures.map(({ manifest }) => manifest),
  ];
  const blobs = manifests.flatMap((manifest) => {
    const { config, layers = [] } = parse(manifest);
    return config === undefined ? layers : [config, ...layers];
  });
  const sizes = new Map(blobs.map(({ digest, size }) => [digest, size]));
  return [...sizes].map(([digest, sizeBytes]) => ({ digest, sizeBytes }));
}

const parse = ({ bytes }: RegistryManifest) =>
  contentSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));

async function pushBlob(
  { push, store }: ImagePushOptions,
  homes: LRUCache<string, string>,
  repository: string,
  { digest, sizeBytes }: RegistryBlob,
  signal: AbortSignal,
): Promise<void> {
  const found = await push.look(repository, "blobs", digest, false);
  if (found.state !== "present") {
    const open = () => store.get(blobKey(digestHex(digest)), undefined, signal);
    await push.putBlob(repository, { digest, sizeBytes, open }, homes.get(digest) ?? null, signal);
  }
  homes.set(digest, repository);
}

async function pushStatements(
  push: RegistryPush,
  repository: string,
  { manifest, statements }: Subject,
  signal: AbortSignal,
): Promise<void> {
  let listed = true;
  for (const statement of statements) {
    const taken = await push.putManifest(repository, statement.digest, statement, signal);
    listed = listed && taken.listsSubject;
  }
  if (listed) return;
  // Registries without referrers are read by this tag (OCI distribution-spec 1.1, referrers tag schema).
  const fallback = manifest.digest.replace(":", "-");
  await push.putManifest(repository, fallback, referrersIndex(statements, undefined), signal);
}
