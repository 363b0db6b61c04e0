/** A registry outside that gets every finished installer, and that pulls are sent on to once everything is there. */
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { RegistryPush } from "../../oci/registry-push.ts";
import type { FindConfigured } from "../schematics/hidden-schematics.ts";
import { createImagePush, type ImagePushOptions, type OutsideImage, tagsOfImage } from "./outside-push.ts";

export interface OutsideOptions extends ImagePushOptions {
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

/** Keeps no state of its own: the registry's answers say what is there, so any number of web processes may share it. */
export function createOutsideRegistry(options: OutsideOptions): OutsideRegistry {
  const { push, rows } = options;
  const staysHere = createSecretNames(options.findConfigured);
  const pause = createPause(options);
  const isThere = createPublicLook(push, pause, options.onWarning);
  const pushes = createPushes(options, pause);

  async function isComplete(image: OutsideImage): Promise<boolean> {
    for (const { tag, digest } of await tagsOfImage(rows, image))
      if (!(await isThere(image.repository, "manifests", tag, digest))) return false;
    return true;
  }

  return {
    async tagged(repository, tag, digest) {
      if (await staysHere(repository)) return null;
      if (await isComplete({ repository, tag, digest })) return push.address(repository, "manifests", digest);
      pushes.start({ repository, tag, digest });
      return null;
    },
    async find(repository, resource, digest) {
      if (await staysHere(repository)) return null;
      return (await isThere(repository, resource, digest, digest))
        ? push.address(repository, resource, digest)
        : null;
    },
    close: () => pushes.close(),
  };
}

/** Time in which the registry is left alone, because it failed. */
interface Pause {
  isOn(): boolean;
  start(message: string, cause: unknown): void;
}

function createPause({ now, onWarning }: Pick<OutsideOptions, "now" | "onWarning">): Pause {
  let until = 0;
  return {
    isOn: () => now() < until,
    start(message, cause) {
      until = now() + PAUSE_MS;
      onWarning(message, cause);
    },
  };
}

type PublicLook = (
  repository: string,
  resource: "manifests" | "blobs",
  reference: string,
  digest: string,
) => Promise<boolean>;

/** True when everybody finds the resource there, with this digest. */
function createPublicLook(
  push: RegistryPush,
  pause: Pause,
  onWarning: OutsideOptions["onWarning"],
): PublicLook {
  const there = new LRUCache<string, true>({ max: ENTRIES, ttl: TRUST_MS });
  let warned = false;
  return async (repository, resource, reference, digest) => {
    const key = `${repository} ${reference} ${digest}`;
    if (pause.isOn()) return false;
    if (there.get(key)) return true;
    const found = await push.look(repository, resource, reference, true);
    if (found.state === "unknown") pause.start(`${push.name} does not answer`, found.reason);
    if (found.state === "hidden" && !warned) {
      warned = true;
      onWarning(`${push.name} wants credentials for pulls: clients are not sent there`, null);
    }
    // Not every registry says the digest; then only what was asked for by digest is known to be the same.
    const present = found.state === "present" && (found.digest ?? reference) === digest;
    if (present) there.set(key, true);
    return present;
  };
}

/** Pushes that nobody waits for. */
function createPushes(
  options: ImagePushOptions,
  pause: Pause,
): { start(image: OutsideImage): void; close(): Promise<void> } {
  const pushImage = createImagePush(options);
  const running = new Map<string, Promise<void>>();
  /** Images that are whole there, whoever may read them. */
  const settled = new LRUCache<string, true>({ max: ENTRIES, ttl: SETTLED_MS });
  const limit = pLimit(PARALLEL_IMAGES);
  const stop = new AbortController();
  return {
    start(image) {
      const name = `${image.repository}:${image.tag}`;
      const key = `${name}@${image.digest}`;
      if (running.has(key) || settled.has(key) || stop.signal.aborted || pause.isOn()) return;
      const work = limit(() => pushImage(image, stop.signal))
        .then(() => void settled.set(key, true))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) pause.start(`${name} cannot be pushed to ${options.push.name}`, error);
        })
        .finally(() => running.delete(key));
      running.set(key, work);
    },
    async close() {
      stop.abort(new Error("the process ends"));
      await Promise.all(running.values());
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
