/** The contract of both stores: a directory on this machine, or S3. Keys are "/"-separated, never hostile (see checkKey). */
import type { Readable } from "node:stream";

export interface StoredObject {
  sizeBytes: number;
}

export interface PutResult extends StoredObject {
  /** Lower-case hex, computed while the bytes pass. */
  sha256: string;
  sha512: string;
}

export interface ByteRange {
  /** First byte, inclusive. */
  start: number;
  /** Last byte, inclusive. */
  end: number;
}

export interface ObjectStore {
  readonly kind: "directory" | "s3";
  /** Writes a stream; the object appears whole or not at all. An existing object is replaced whole. */
  put(
    key: string,
    source: Readable,
    options?: { contentType?: string; signal?: AbortSignal },
  ): Promise<PutResult>;
  /** Like put, from a file that the caller gives away (it may be moved instead of copied). */
  putFile(
    key: string,
    path: string,
    options?: { contentType?: string; signal?: AbortSignal },
  ): Promise<PutResult>;
  /** Null when there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  /** Streams the object or a part; not_found when absent. Reading never holds more than a few chunks in memory. */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Copies the object into a local file; gives false when there is no such object. Verifies the length. */
  getFile(key: string, path: string, signal?: AbortSignal): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** Removes what killed writers left behind at least so long ago; gives the number of files. */
  removeLeftovers(olderThanMs: number): Promise<number>;
  list(prefix: string): AsyncIterable<{ key: string; sizeBytes: number }>;
  /** Throws upstream_unavailable with a clear sentence when the store cannot be written and read. */
  check(): Promise<void>;
}
