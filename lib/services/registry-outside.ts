/** A registry outside that gets every finished installer, and that pulls are sent on to once everything is there. */
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { z } from "zod";
import type { RegistryRepository } from "../db/registry-repository.ts";
import type { RegistryBlob, RegistryManifest } from "../domain/registry-content.ts";
import { digestHex } from "../oci/reference.ts";
import type { RegistryPush } from "../oci/registry-push.ts";
import { signatureTag } from "../oci/signature.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { FindConfigured } from "./hidden-schematics.ts";
import { referrersIndex } from "./registry-referrers.ts";
import { blobKey } from "./source-blobs.ts";

export interface OutsideOptions {
  push: RegistryPush;
  rows: Pick<RegistryRepository, "findTag" | "findManifest" | "referrers">;
  store: Pick<ObjectStore, "get">;
  /** Installers of these schematics stay here: registries list what they have, and the name is the key to the secret. */
  findConfigured: FindConfigured;
  now: () => number;
  onWarning: (message: string, cause: unknown) => void;
}

export interface OutsideRegistry {
  /**
   * Address there of what `tag` means, null while clients have to be served from here. What is missing there is pushed
   * meanwhile, without anybody waiting for it.
   */
  tagged(repository: string, tag: string, digest: string): Promise<string | null>;
  /** Address there of a manifest or blob, null when it is not there for everybody. */
  find(repository: string, resource: "manifests" | "blobs", digest: string): Promise<string | null>;
  /** Waits for pushes that are going on. */
  close(): Promise<void>;
}

/** How long "it is there" is believed: the requests of one pull. */
const TRUST_MS = 5_000;
/** How long an image is known to be whole there, whoever may read it. */
const SETTLED_MS = 60_000;
const ENTRIES = 20_000;
/** After a failure nothing is asked or pushed for so long. */
const PAUSE_MS = 5_000;
const PARALLEL_IMAGES = 2;
const PARALLEL_BLOBS = 4;

const descriptor = z.object({ digest: z.string(), size: z.int().nonnegative() });
const contentSchema = z.object({
  manifests: z.array(descriptor).optional(),
  config: descriptor.optional(),
  layers: z.array(descriptor).optional(),
});

/** Keeps no state of its own: the registry's answers say what is there, so any number of web processes may share it. */
export function createOutsideRegistry(options: OutsideOptions): OutsideRegistry {
  const { push, rows, now, onWarning } = options;
  const staysHere = createSecretNames(options.findConfigured);
  const there = new LRUCache<string, true>({ max: ENTRIES, ttl: TRUST_MS });
  const pushing = new Map<string, Promise<void>>();
  const limit = pLimit(PARALLEL_IMAGES);
  /** Repository that a blob was pushed to last, to mount it from. */
  const homes = new LRUCache<string, string>({ max: ENTRIES });
  const stop = new AbortController();
  /** Images that are whole there, whoever may read them. */
  const settled = new LRUCache<string, true>({ max: ENTRIES, ttl: SETTLED_MS });
  let pausedUntil = 0;
  let warned = false;

  function pause(message: string, cause: unknown): void {
    pausedUntil = now() + PAUSE_MS;
    onWarning(message, cause);
  }

  /** True when everybody finds the resource there, with this digest. */
  async function isThere(
    repository: string,
    resource: "manifests" | "blobs",
    reference: string,
    digest: string,
  ): Promise<boolean> {
    const key = `${repository} ${reference} ${digest}`;
    if (now() < pausedUntil) return false;
    if (there.get(key)) return true;
    const found = await push.look(repository, resource, reference, true);
    if (found.state === "unknown") pause(`${push.name} does not answer`, found.reason);
    if (found.state === "hidden" && !warned) {
      warned = true;
      onWarning(`${push.name} wants credentials for pulls: clients are not sent there`, null);
    }
    // Not every registry says the digest; then only what was asked for by digest is known to be the same.
    const present = found.state === "present" && (found.digest ?? reference) === digest;
    if (present) there.set(key, true);
    return present;
  }

  function start(repository: string, tag: string, digest: string): void {
    const key = `${repository}:${tag}@${digest}`;
    if (pushing.has(key) || settled.has(key) || stop.signal.aborted || now() < pausedUntil) return;
    const work = limit(() => pushImage(options, homes, { repository, tag, digest }, stop.signal))
      .then(() => void settled.set(key, true))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) pause(`${repository}:${tag} cannot be pushed to ${push.name}`, error);
      })
      .finally(() => pushing.delete(key));
    pushing.set(key, work);
  }

  return {
    async tagged(repository, tag, digest) {
      if (await staysHere(repository)) return null;
      const signature = await rows.findTag(repository, signatureTag(digest));
      const complete =
        (await isThere(repository, "manifests", tag, digest)) &&
        (signature === null || (await isThere(repository, "manifests", signature.tag, signature.digest)));
      if (complete) return push.address(repository, "manifests", digest);
      start(repository, tag, digest);
      return null;
    },
    async find(repository, resource, digest) {
      if (await staysHere(repository)) return null;
      return (await isThere(repository, resource, digest, digest))
        ? push.address(repository, resource, digest)
        : null;
    },
    async close() {
      stop.abort(new Error("the process ends"));
      await Promise.all(pushing.values());
    },
  };
}

/** Whether an installer's repository, "<image>/<schematic>", is one of a schematic with a machine configuration. */
function createSecretNames(findConfigured: FindConfigured): (repository: string) => Promise<boolean> {
  const known = new LRUCache<string, boolean>({ max: ENTRIES });
  return async (repository) => {
    const id = repository.slice(repository.lastIndexOf("/") + 1);
    const secret = known.get(id) ?? (await findConfigured([id])).length > 0;
    known.set(id, secret);
    return secret;
  };
}

interface Image {
  repository: string;
  tag: string;
  digest: string;
}

/** Blobs, then manifests, then what is said about them; the tag of the image comes last. */
async function pushImage(
  { push, rows, store }: OutsideOptions,
  homes: LRUCache<string, string>,
  { repository, tag, digest }: Image,
  signal: AbortSignal,
): Promise<void> {
  const index = await rows.findManifest(repository, digest);
  if (index === null || (await isComplete(push, rows, { repository, tag, digest }))) return;
  const platforms = await platformsOf(rows, repository, index);
  const subjects = [...platforms, index];
  const statements = await Promise.all(subjects.map((one) => rows.referrers(repository, one.digest)));
  const signatures = await signaturesOf(rows, repository, subjects);
  const blobs = [...subjects, ...statements.flat(), ...signatures.map(({ manifest }) => manifest)].flatMap(
    blobsOf,
  );
  const unique = [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
  const limit = pLimit(PARALLEL_BLOBS);
  await Promise.all(
    unique.map((blob) => limit(() => pushBlob({ push, store }, homes, repository, blob, signal))),
  );
  for (const manifest of subjects) await push.putManifest(repository, manifest.digest, manifest, signal);
  for (const [position, subject] of subjects.entries()) {
    const said = statements[position] ?? [];
    let listed = true;
    for (const statement of said)
      listed =
        (await push.putManifest(repository, statement.digest, statement, signal)).listsSubject && listed;
    // Registries without referrers are read by this tag (OCI distribution-spec 1.1, referrers tag schema).
    if (!listed) {
      const fallback = subject.digest.replace(":", "-");
      await push.putManifest(repository, fallback, referrersIndex(said, undefined), signal);
    }
  }
  for (const { tag: name, manifest } of signatures)
    await push.putManifest(repository, name, manifest, signal);
  await push.putManifest(repository, tag, index, signal);
}

/** Asked with credentials: a registry that serves nobody else still is not pushed to again and again. */
async function isComplete(
  push: RegistryPush,
  rows: OutsideOptions["rows"],
  { repository, tag, digest }: Image,
): Promise<boolean> {
  const signature = await rows.findTag(repository, signatureTag(digest));
  const expected = [{ tag, digest }, ...(signature === null ? [] : [signature])];
  const found = await Promise.all(expected.map((one) => push.look(repository, "manifests", one.tag, false)));
  return found.every((one, at) => one.state === "present" && one.digest === expected[at]?.digest);
}

async function platformsOf(
  rows: OutsideOptions["rows"],
  repository: string,
  index: RegistryManifest,
): Promise<RegistryManifest[]> {
  const entries = parse(index).manifests ?? [];
  const found = await Promise.all(entries.map((entry) => rows.findManifest(repository, entry.digest)));
  return found.filter((one) => one !== null);
}

async function signaturesOf(
  rows: OutsideOptions["rows"],
  repository: string,
  subjects: readonly RegistryManifest[],
): Promise<{ tag: string; manifest: RegistryManifest }[]> {
  const found = await Promise.all(
    subjects.map(async (subject) => {
      const tag = await rows.findTag(repository, signatureTag(subject.digest));
      const manifest = tag && (await rows.findManifest(repository, tag.digest));
      return tag && manifest ? [{ tag: tag.tag, manifest }] : [];
    }),
  );
  return found.flat();
}

const parse = ({ bytes }: RegistryManifest) =>
  contentSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));

function blobsOf(manifest: RegistryManifest): RegistryBlob[] {
  const { config, layers = [] } = parse(manifest);
  const all = config === undefined ? layers : [config, ...layers];
  return all.map(({ digest, size }) => ({ digest, sizeBytes: size }));
}

async function pushBlob(
  { push, store }: Pick<OutsideOptions, "push" | "store">,
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
