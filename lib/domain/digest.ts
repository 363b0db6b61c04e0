/** SHA-256 as IDs, content keys and OCI documents write it. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { invalidInput } from "../errors/app-error.ts";

export const SHA256_HEX = /^[0-9a-f]{64}$/;
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** True for "sha256:" and 64 lower-case hex digits; other algorithms are not accepted from a source. */
export const isDigest = (text: string): boolean => DIGEST.test(text);

/** The 64 hex digits of a digest; invalid_input when it is not a SHA-256 digest. */
export function digestHex(digest: string): string {
  if (!isDigest(digest))
    throw invalidInput(`${JSON.stringify(digest.slice(0, 100))} is not a SHA-256 digest`);
  return digest.slice("sha256:".length);
}

/** "sha256:<hex>" of bytes. For documents: files are hashed where they are read. */
export const digestOf = (bytes: Uint8Array): string => `sha256:${bytesToHex(sha256(bytes))}`;
