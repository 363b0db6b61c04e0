/** Conditional and range requests: RFC 9110 sections 13 and 14, as one pure decision. */
import type { ByteRange } from "../storage/object-store.ts";

export interface ConditionalHeaders {
  range?: string | undefined;
  ifRange?: string | undefined;
  ifNoneMatch?: string | undefined;
  ifMatch?: string | undefined;
}

export type Answer =
  | { status: 200 }
  | { status: 206; range: ByteRange }
  | { status: 304 }
  | { status: 412 }
  | { status: 416 };

/** True when a list of entity tags (or "*") names the tag; weak comparison ignores "W/". */
function listed(header: string, etag: string, weak: boolean): boolean {
  if (header.trim() === "*") return true;
  for (const match of header.matchAll(/(W\/)?("[^"]*")/g)) {
    if (match[2] === etag && (weak || !match[1])) return true;
  }
  return false;
}

/** One range of a Range header; null when it should be ignored (other unit, bad syntax, several ranges). */
function singleRange(header: string, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(header);
  if (!match || (match[1] === "" && match[2] === "")) return null;
  if (match[1] === "") {
    const suffix = Number(match[2]);
    if (suffix === 0 || size === 0) return "unsatisfiable";
    return { start: Math.max(0, size - suffix), end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== "" && Number(match[2]) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

/**
 * Decides the status of a GET or HEAD for a representation with a strong etag and a known size.
 * Several ranges at once are answered with the whole (RFC 9110 §14.2 allows to ignore Range).
 */
export function evaluate(headers: ConditionalHeaders, etag: string, size: number): Answer {
  if (headers.ifMatch !== undefined && !listed(headers.ifMatch, etag, false)) return { status: 412 };
  if (headers.ifNoneMatch !== undefined && listed(headers.ifNoneMatch, etag, true)) return { status: 304 };
  if (headers.range === undefined) return { status: 200 };
  if (headers.ifRange !== undefined && headers.ifRange.trim() !== etag) return { status: 200 };
  const range = singleRange(headers.range, size);
  if (range === null) return { status: 200 };
  return range === "unsatisfiable" ? { status: 416 } : { status: 206, range };
}
