/** Asks for the signature of an image once, checks it, and keeps what proved it for times without the registry. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { digestHex } from "../domain/digest.ts";
import { AppError } from "../errors/app-error.ts";
import { imageName } from "./registry-client.ts";
import { type Evidence, type SignatureRule, unverified } from "./signature.ts";
import { type OfferContext, offered } from "./signature-offers.ts";
import { SingleFlight } from "./single-flight.ts";

export interface ImageVerifierOptions extends OfferContext {
  rule: SignatureRule;
  /** Folder below which signatures/ is made. */
  dir: string;
}

/** A refusal tells at most so many reasons. */
const MAX_REASONS = 3;
/** Failures that say something about what the registry holds; all others say that it could not be asked. */
const BAD_CONTENT = new Set(["source_invalid", "not_found", "too_large"]);

const evidenceSchema = z.union([
  z.object({
    form: z.literal("payload"),
    payload: z.base64(),
    annotations: z.record(z.string(), z.string()),
  }),
  z.object({ form: z.literal("bundle"), bundle: z.base64() }),
]);

/** Checks images by one rule; a digest that passed once in this process is not asked for again. */
export class ImageVerifier {
  readonly #verified = new Set<string>();
  readonly #flights = new SingleFlight<void>();

  constructor(readonly options: ImageVerifierOptions) {}

  /** Returns when the rule accepts the image; source_invalid naming image, digest and reason when it does not. */
  async require(repository: string, digest: string, signal?: AbortSignal): Promise<void> {
    if (this.#verified.has(digest)) return;
    const name = `the signature of ${imageName(repository, digest)}`;
    await this.#flights.join(name, (shared) => this.#verify(repository, digest, shared), { signal });
    this.#verified.add(digest);
  }

  async #verify(repository: string, digest: string, signal: AbortSignal): Promise<void> {
    const { rule, dir } = this.options;
    const kept = join(dir, "signatures", rule.id, `${digestHex(digest)}.json`);
    const known = await readEvidence(kept);
    if (known && (await rule.check(digest, known)) === null) return;
    const reasons = new Set<string>();
    for (const form of rule.forms) {
      const objection = await this.#look(form, { repository, digest }, kept, signal);
      if (objection === null) return;
      for (const one of objection) reasons.add(one);
    }
    const reason = [...reasons].slice(0, MAX_REASONS).join("; ") || "it has no signature";
    throw unverified(repository, digest, reason, rule.hint);
  }

  /** Null when something of this form was accepted (and is kept now), else why each was not. */
  async #look(
    form: Evidence["form"],
    image: { repository: string; digest: string },
    kept: string,
    signal: AbortSignal,
  ): Promise<string[] | null> {
    const reasons: string[] = [];
    try {
      for await (const evidence of offered(this.options, form, image, signal)) {
        const objection = await this.options.rule.check(image.digest, evidence);
        if (objection === null) {
          await keepEvidence(kept, evidence);
          return null;
        }
        reasons.push(objection);
      }
    } catch (error) {
      if (!(error instanceof AppError) || !BAD_CONTENT.has(error.code)) throw error;
      reasons.push(`its signature cannot be read: ${error.message}`);
    }
    return reasons;
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
  const { data } = evidenceSchema.safeParse(json);
  if (!data) return null;
  return data.form === "bundle"
    ? { form: "bundle", bundle: Buffer.from(data.bundle, "base64") }
    : { ...data, payload: Buffer.from(data.payload, "base64") };
}

async function keepEvidence(path: string, evidence: Evidence): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${randomUUID()}`;
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const kept =
    evidence.form === "bundle"
      ? { ...evidence, bundle: base64(evidence.bundle) }
      : { ...evidence, payload: base64(evidence.payload) };
  await writeFile(partial, JSON.stringify(kept));
  await rename(partial, path);
}
