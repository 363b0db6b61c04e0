/** Opens what everything else stands on: database, Redis, store, source images, releases, schematics. */
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { inDataDir } from "../config/data-folders.ts";
import type { Config } from "../config/types.ts";
import { createDatabase, type Database } from "../db/client.ts";
import { createReleaseRepository } from "../db/release-repository.ts";
import { createSchematicRepository } from "../db/schematic-repository.ts";
import { runTool } from "../exec/run.ts";
import { createSourceImages } from "../oci/source-images.ts";
import type { SourceImages, SourceMirror } from "../oci/types.ts";
import { createPatientRedis, createRedis } from "../queue/connection.ts";
import type { SchematicService } from "../services/contracts.ts";
import { createSourceBlobs } from "../services/inputs/source-blobs.ts";
import { type ClosableReleaseService, createReleaseService } from "../services/releases/releases.ts";
import type { FindConfigured } from "../services/schematics/hidden-schematics.ts";
import { createSchematicService } from "../services/schematics/schematics.ts";
import { UsageRecorder } from "../services/usage-recorder.ts";
import { createObjectStore } from "../storage/create-object-store.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { joinOwnImages } from "./own.ts";

export type Role = "web" | "worker";

export interface Base {
  db: Database;
  redis: Redis;
  subscriber: Redis;
  /** Only in a worker. */
  blocking: Redis | null;
  store: ObjectStore;
  images: SourceImages & SourceMirror;
  close(): Promise<void>;
}

/** Connections open themselves; only a missing bucket is made at once. */
export async function openBase(config: Config, role: Role, log: Logger): Promise<Base> {
  const onError = (error: Error) => log.warn({ err: error }, "redis connection trouble");
  const db = createDatabase(config.database.url, { poolSize: role === "web" ? 10 : 5 });
  const redis = createRedis(config.redis.url, onError);
  const subscriber = createPatientRedis(config.redis.url, onError);
  const blocking = role === "worker" ? createPatientRedis(config.redis.url, onError) : null;
  const store = await createObjectStore(config.storage, (bucket) => log.info({ bucket }, "bucket created"));
  const { registry, username, password, verify } = config.source;
  const cacheDir = inDataDir(config.dataDir, "cache/source");
  const source = createSourceImages({
    ...{ registry, username, password, verify, cacheDir, run: runTool },
    secondLevel: createSourceBlobs(store),
    onWarning: (message, cause) => log.warn({ err: cause }, message),
  });
  const images = joinOwnImages(source, { db, store, cacheDir });
  async function close(): Promise<void> {
    for (const connection of [subscriber, blocking, redis]) connection?.disconnect();
    await db.$disconnect();
  }
  return { db, redis, subscriber, blocking, store, images, close };
}

/** The releases of the source, without own entries. */
export function openReleases(options: {
  config: Config;
  db: Database;
  images: SourceImages & SourceMirror;
  log: Logger;
}): ClosableReleaseService {
  const { config, db, images, log } = options;
  return createReleaseService({
    images,
    repository: createReleaseRepository(db),
    source: config.source,
    log,
  });
}

export interface OpenSchematics {
  schematics: SchematicService;
  usage: UsageRecorder;
  findConfigured: FindConfigured;
}

/** Schematics, and when they were last used. */
export function openSchematics(db: Database, log: Logger): OpenSchematics {
  const repository = createSchematicRepository(db);
  const onError = (error: unknown) => log.warn({ err: error }, "last use not written");
  const usage = new UsageRecorder((ids) => repository.touch(ids), onError);
  const schematics = createSchematicService({ repository, usage });
  return { schematics, usage, findConfigured: (ids) => repository.findConfigured(ids) };
}
