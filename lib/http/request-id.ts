/** The request ID: the caller's when it is printable and short, else a fresh UUID. */
import { randomUUID } from "node:crypto";

const MAX_CHARS = 128;

/** Header values outside visible ASCII or longer than 128 characters are replaced, so that logs and replies stay clean. */
export function requestIdOf(header: string | undefined): string {
  if (header && header.length <= MAX_CHARS && /^[\x21-\x7e]+$/.test(header)) return header;
  return randomUUID();
}
