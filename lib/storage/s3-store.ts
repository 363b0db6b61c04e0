/** The object store in an S3 bucket. A PUT or a completed multipart upload is atomic there, so no temporary keys. */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { AppError, notFound } from "../errors/app-error.ts";
import { clipRange } from "./clip-range.ts";
import { HashingStream, hashFile } from "./hashing.ts";
import { checkKey, checkPrefix } from "./keys.ts";
import type { ByteRange, ObjectStore, PutResult, StoredObject } from "./object-store.ts";
import { resumingStream } from "./resuming-stream.ts";
import { ensureBucket } from "./s3-bucket.ts";
import { isAbsence, toStoreError } from "./s3-errors.ts";

export interface S3Settings {
  /** Null: Amazon's own for the region. */
  endpoint: string | null;
  bucket: string;
  region: string;
  /** Null: the SDK's own chain (instance role, shared files). */
  accessKeyId: string | null;
  secretAccessKey: string | null;
  forcePathStyle: boolean;
  /** All keys are kept under this prefix; ends with "/" or is empty. */
  prefix?: string;
}

type PutOptions = { contentType?: string; signal?: AbortSignal };

const PART_BYTES = 8 * 1024 * 1024;
/** S3 allows 10,000 parts. */
const MAX_PARTS = 9_000;
/** Parts on the way at once; with the part being filled this bounds the memory of one upload to about 32 MiB. */
const PARALLEL_PARTS = 2;

export class S3Store implements ObjectStore {
  readonly kind = "s3";
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #region: string;
  readonly #prefix: string;

  constructor(settings: S3Settings) {
    const { endpoint, accessKeyId, secretAccessKey } = settings;
    this.#bucket = settings.bucket;
    this.#region = settings.region;
    this.#prefix = settings.prefix ?? "";
    this.#client = new S3Client({
      region: settings.region,
      forcePathStyle: settings.forcePathStyle,
      ...(endpoint === null ? {} : { endpoint }),
      ...(accessKeyId === null || secretAccessKey === null
        ? {}
        : { credentials: { accessKeyId, secretAccessKey } }),
      maxAttempts: 4,
      // Other servers than Amazon's often do not know the newer trailing checksums.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      requestHandler: {
        connectionTimeout: 5_000,
        socketTimeout: 60_000,
        httpAgent: { maxSockets: 128 },
        httpsAgent: { maxSockets: 128 },
      },
    });
  }

  async put(key: string, source: Readable, options: PutOptions = {}): Promise<PutResult> {
    const hashing = new HashingStream();
    const fed = pipeline(source, hashing, options.signal ? { signal: options.signal } : {}).then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      await this.#upload(key, hashing, PART_BYTES, options);
    } catch (error) {
      source.destroy();
      // When the source is the reason its own error says more than that of the upload it ended.
      const reason = options.signal?.aborted || source.errored === null ? error : source.errored;
      throw reason === source.errored ? reason : toStoreError(error, `store ${key}`);
    }
    await fed;
    const result = hashing.result();
    await this.#verifyLength(key, result.sizeBytes, options.signal);
    return result;
  }

  async putFile(key: string, path: string, options: PutOptions = {}): Promise<PutResult> {
    const { size } = await stat(path);
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
    const body = createReadStream(path, { highWaterMark: 1024 * 1024 });
    try {
      const [result] = await Promise.all([
        hashFile(path, options.signal),
        this.#upload(key, body, partBytes, options),
      ]);
      await this.#verifyLength(key, size, options.signal);
      await rm(path, { force: true });
      return result;
    } catch (error) {
      throw toStoreError(error, `store ${key}`);
    } finally {
      body.destroy();
    }
  }

  async head(key: string): Promise<StoredObject | null> {
    try {
      const reply = await this.#client.send(new HeadObjectCommand(this.#at(key)));
      return { sizeBytes: reply.ContentLength ?? 0 };
    } catch (error) {
      if (isAbsence(error)) return null;
      throw toStoreError(error, `look up ${key}`);
    }
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    const info = range ? await this.head(key) : undefined;
    if (info === null) throw absent(key);
    const part = range && info ? clipRange(range, info.sizeBytes, key) : undefined;
    const start = part?.start ?? 0;
    try {
      const first = await this.#read(key, start, part?.end, undefined, signal);
      return resumingStream({
        name: key,
        first: part ? { ...first, sizeBytes: part.end - start + 1 } : first,
        start,
        reopen: (from, to) => this.#read(key, from, to, first.etag, signal),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (isAbsence(error)) throw absent(key);
      throw toStoreError(error, `read ${key}`);
    }
  }

  async getFile(key: string, path: string, signal?: AbortSignal): Promise<boolean> {
    const temporary = `${path}.${randomUUID()}.part`;
    try {
      const source = await this.get(key, undefined, signal);
      await pipeline(
        source,
        createWriteStream(temporary, { highWaterMark: 1024 * 1024 }),
        signal ? { signal } : {},
      );
      await rename(temporary, path);
      return true;
    } catch (error) {
      await rm(temporary, { force: true });
      if (error instanceof AppError && error.code === "not_found") return false;
      throw toStoreError(error, `read ${key}`);
    }
  }

  async delete(key: string): Promise<void> {
    try {
      await this.#client.send(new DeleteObjectCommand(this.#at(key)));
    } catch (error) {
      if (!isAbsence(error)) throw toStoreError(error, `delete ${key}`);
    }
  }

  async *list(prefix: string): AsyncIterable<{ key: string; sizeBytes: number }> {
    checkPrefix(prefix);
    const input = { Bucket: this.#bucket, Prefix: this.#prefix + prefix };
    try {
      for await (const page of paginateListObjectsV2({ client: this.#client }, input)) {
        for (const entry of page.Contents ?? []) {
          const name = entry.Key ?? "";
          // Folder markers that some tools create are no objects of ours.
          if (!name.endsWith("/")) yield { key: name.slice(this.#prefix.length), sizeBytes: entry.Size ?? 0 };
        }
      }
    } catch (error) {
      throw toStoreError(error, "list objects");
    }
  }

  /** The bucket's own rules end uploads that were given up (AbortIncompleteMultipartUpload); see docs/builds.md. */
  async removeLeftovers(): Promise<number> {
    return 0;
  }

  async check(): Promise<void> {
    const place = this.#at(`health/${randomUUID()}`);
    try {
      await this.#client.send(new PutObjectCommand({ ...place, Body: "ok" }));
      await this.#client.send(new HeadObjectCommand(place));
      await this.#client.send(new DeleteObjectCommand(place));
    } catch (error) {
      const why = error instanceof Error ? error.message || error.name : String(error);
      throw new AppError(
        "upstream_unavailable",
        `The bucket ${this.#bucket} cannot be written and read: ${why}`,
        {
          hint: "Check S3_ENDPOINT, S3_BUCKET and the keys; a missing bucket is made at the next start when the keys may.",
          cause: error,
        },
      );
    }
  }

  /** Makes the bucket when it is missing; true when this call made it. Throws when it may not or the server is away. */
  async ensureBucket(signal: AbortSignal): Promise<boolean> {
    try {
      return await ensureBucket(this.#client, { bucket: this.#bucket, region: this.#region }, signal);
    } catch (error) {
      throw toStoreError(error, `make the bucket ${this.#bucket}`);
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#client.destroy();
  }

  #at(key: string): { Bucket: string; Key: string } {
    checkKey(key);
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  async #upload(key: string, body: Readable, partSize: number, options: PutOptions): Promise<void> {
    const { contentType: ContentType, signal } = options;
    signal?.throwIfAborted();
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(key), Body: body, ...(ContentType ? { ContentType } : {}) },
      partSize,
      queueSize: PARALLEL_PARTS,
      leavePartsOnError: false,
    });
    const onAbort = () => {
      body.destroy(new Error("aborted"));
      void upload.abort();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await upload.done();
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async #verifyLength(key: string, sizeBytes: number, signal?: AbortSignal): Promise<void> {
    let stored: StoredObject | null = null;
    // A lesser server may show another writer's unfinished object of the same key for a moment.
    for (let attempt = 0; attempt < 4; attempt++) {
      if (attempt > 0) await sleep(attempt * 150);
      signal?.throwIfAborted();
      stored = await this.head(key);
      if (stored?.sizeBytes === sizeBytes) return;
    }
    throw new AppError(
      "upstream_unavailable",
      `${key} arrived in the bucket with ${stored?.sizeBytes ?? "no"} bytes instead of ${sizeBytes}`,
    );
  }

  /** One GET. With an etag the object must still be the same one. */
  async #read(key: string, start: number, end: number | undefined, etag?: string, signal?: AbortSignal) {
    const partial = start > 0 || end !== undefined;
    const reply = await this.#client.send(
      new GetObjectCommand({
        ...this.#at(key),
        ...(partial ? { Range: `bytes=${start}-${end ?? ""}` } : {}),
        ...(etag ? { IfMatch: etag } : {}),
      }),
      signal ? { abortSignal: signal } : {},
    );
    if (partial && !reply.ContentRange?.startsWith(`bytes ${start}-`)) {
      throw new Error("the server does not honour byte ranges");
    }
    if (!(reply.Body instanceof Readable) || reply.ContentLength === undefined) {
      throw new Error("the reply has no body or no length");
    }
    return { body: reply.Body, sizeBytes: reply.ContentLength, ...(reply.ETag ? { etag: reply.ETag } : {}) };
  }
}

const absent = (key: string) => notFound(`There is no object ${key} in the store`);
