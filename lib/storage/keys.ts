/** Which object keys are allowed: plain relative paths that mean the same in a directory and in S3. */
import { AppError } from "../errors/app-error.ts";

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/;
const MAX_KEY_LENGTH = 512;
const MAX_SEGMENT_LENGTH = 200;

/**
 * Throws when the key is not a "/"-separated path of plain names: no empty, "." or ".." segment, nothing that begins
 * with a dot (kept for temporary files), no control or non-ASCII characters, at most 512 characters.
 */
export function checkKey(key: string): void {
  const ok = key.length <= MAX_KEY_LENGTH && key.split("/").every(isPlainSegment);
  if (!ok) throw refused(key);
}

/** Like checkKey for the start of keys: empty, or a path whose last segment may be unfinished or missing. */
export function checkPrefix(prefix: string): void {
  if (prefix === "") return;
  checkKey(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
}

function isPlainSegment(segment: string): boolean {
  return segment.length <= MAX_SEGMENT_LENGTH && SEGMENT.test(segment);
}

const refused = (key: string) =>
  new AppError("invalid_input", `${JSON.stringify(key.slice(0, 80))} is not a valid object key`, {
    retryable: false,
  });
