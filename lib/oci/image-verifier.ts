/** Asks for the signature of an image once, checks it, and keeps what proved it for times without the registry. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SIGNATURE_ANNOTATION, SIMPLE_SIGNING } from "../formats/image-signature.ts";
import { parseImage } from "./manifest.ts";
import { digestHex } from "./reference.ts";
import { imageName, type RegistryClient } from "./registry-client.ts";
import {
  checkEvidence,
  type Evidence,
  MAX_PAYLOAD_BYTES,
  signatureTag,
  type TrustedKey,
  unverified,
} from "./signature.ts";
import { SingleFlight } from "./single-flight.ts";
import type { Descriptor } from "./types.ts";

export interface ImageVerifierOptions {
  client: RegistryClient;
  key: TrustedKey;
  /** Folder below which signatures/ is made. */
  dir: string;
  /** Small verified blob of a repository. */
  fetchBlob: (repository: string, descriptor: Descriptor, signal: AbortSignal) => Promise<Uint8Array>;
}

const MAX_SIGNATURES = 20;
const evidenceSchema = z.object({ payload: z.base64(), signature: z.base64() });

/** Checks images against one key; a digest that passed once in this process is not asked for again. */
export class ImageVerifier {
  readonly #verified = new Set<string>();
  readonly #flights = new SingleFlight<void>();

  constructor(readonly options: ImageVerifierOptions) {}

  /** Returns when the image is signed by the key; source_invalid naming image, digest and reason when it is not. */
  async require(repository: string, digest: string, signal?: AbortSignal): Promise<void> {
    if (this.#verified.has(digest)) return;
    const name = `the signature of ${imageName(repository, digest)}`;
    await this.#flights.join(name, (shared) => this.#verify(repository, digest, shared), { signal });
    this.#verified.add(digest);
  }

  async #verify(repository: string, digest: string, signal: AbortSignal): Promise<void> {
    const { key, dir } = this.options;
    const kept = join(dir, "signatures", key.id, `${digestHex(digest)}.json`);
    const known = await readEvidence(kept);
    if (known && checkEvidence(key, digest, known) === null) return;
    let reason = "it has no signature";
    for await (const evidence of this.#offered(repository, digest, signal)) {
      const objection = checkEvidence(key, digest, evidence);
      if (objection === null) return keepEvidence(kept, evidence);
      reason = objection;
    }
    throw unverified(repository, digest, reason);
  }

  async *#offered(repository: string, digest: string, signal: AbortSignal): AsyncGenerator<Evidence> {
    const tag = signatureTag(digest);
    const found = await this.options.client.getManifest(repository, tag, signal);
    if (!found) return;
    const { layers } = parseImage(imageName(repository, tag), found);
    for (const layer of layers.slice(0, MAX_SIGNATURES)) {
      const signature = layer.annotations?.[SIGNATURE_ANNOTATION];
      if (layer.mediaType !== SIMPLE_SIGNING || signature === undefined || layer.size > MAX_PAYLOAD_BYTES)
        continue;
      yield { payload: await this.options.fetchBlob(repository, layer, signal), signature };
    }
  }
}

/** What was kept is checked again each time it is read, so the folder needs no more trust than the registry. */
async function readEvidence(path: string): Promise<Evidence | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = evidenceSchema.safeParse(json);
  if (!parsed.success) return null;
  return { payload: Buffer.from(parsed.data.payload, "base64"), signature: parsed.data.signature };
}

async function keepEvidence(path: string, evidence: Evidence): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${randomUUID()}`;
  const payload = Buffer.from(evidence.payload).toString("base64");
  await writeFile(partial, JSON.stringify({ payload, signature: evidence.signature }));
  await rename(partial, path);
}
