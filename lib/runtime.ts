/** The composition root: the one place that reads the configuration and joins everything. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { Config } from "./config/types.ts";
import { checkDatabase, createDatabase, type Database } from "./db/client.ts";
import { createReleaseRepository } from "./db/release-repository.ts";
import { createSchematicRepository } from "./db/schematic-repository.ts";
import { missingTools, runTool } from "./exec/run.ts";
import { TOOLS_OF_ROLE } from "./exec/tools.ts";
import { readInstalledGrub } from "./imager/grub-modules.ts";
import { runPlan } from "./imager/run-plan.ts";
import { keyFilesOf, openSecureBootKeys } from "./keys/open-keys.ts";
import { createLogger } from "./log/logger.ts";
import { createSourceImages } from "./oci/source-images.ts";
import type { SourceImages, SourceMirror } from "./oci/types.ts";
import { createPatientRedis, createRedis } from "./queue/connection.ts";
import { DEFAULT_PREFIX } from "./queue/jobs.ts";
import { createBuildSide } from "./runtime-builds.ts";
import { createCatalogSide } from "./runtime-catalog.ts";
import { createEvidenceSide } from "./runtime-evidence.ts";
import { createOperationSide } from "./runtime-operation.ts";
import { createBootTestSide, createOwnSide, joinOwnImages } from "./runtime-own.ts";
import { createRegistrySide } from "./runtime-registry.ts";
import { createWorkerSide, type WorkerSide } from "./runtime-worker.ts";
import { createAssetResolving } from "./services/asset-resolving.ts";
import type { ReleaseService, SchematicService, Services } from "./services/contracts.ts";
import { createPlanners } from "./services/engines.ts";
import {
  createWithdrawnReleases,
  lacksOwn,
  lacksRelease,
  resolveWithFormer,
} from "./services/former-files.ts";
import { createHealthService } from "./services/health.ts";
import { type FindConfigured, hideSchematics } from "./services/hidden-schematics.ts";
import { createKeyService } from "./services/keys.ts";
import { readLockBuilder } from "./services/lock-builder.ts";
import { createLockBuilds } from "./services/lock-builds.ts";
import { createOverlayProfiles } from "./services/overlay-profiles.ts";
import { createPxeService } from "./services/pxe.ts";
import { type ClosableReleaseService, createReleaseService } from "./services/releases.ts";
import { createSchematicService } from "./services/schematics.ts";
import { createSourceBlobs } from "./services/source-blobs.ts";
import { UsageRecorder } from "./services/usage-recorder.ts";
import { createObjectStore } from "./storage/create-object-store.ts";
import type { ObjectStore } from "./storage/object-store.ts";

export type Role = "web" | "worker";

export interface Runtime {
  config: Config;
  log: Logger;
  services: Services;
  db: Database;
  redis: Redis;
  store: ObjectStore;
  /** What workers/main.ts needs; null in a web process. */
  worker: WorkerSide | null;
  /** Ends everything that was started, in order; safe to call twice. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  /** Start of all Redis keys; several installations on one Redis need different ones. */
  prefix?: string;
  log?: Logger;
}

/** Joins one process. Nothing is asked of any server yet, except that connections open themselves and a bucket is made. */
export async function createRuntime(
  config: Config,
  role: Role,
  options: RuntimeOptions = {},
): Promise<Runtime> {
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  const now = Date.now;
  const log =
    options.log ?? createLogger({ process: role, level: config.logLevel, pretty: config.development });
  await mkdir(config.dataDir, { recursive: true });
  const keys = await openSecureBootKeys(config.secureBoot, log);
  const base = await openBase(config, role, log);
  const { db, redis, subscriber, store, images } = base;
  const official = openReleases(config, base, log);
  const { schematics, usage, findConfigured } = openSchematics(db, log);
  const ownSide = createOwnSide({ config, db, store, images, official, findConfigured, log, now });
  const { releases } = ownSide;
  const { externalUrl, externalPxeUrl } = config.http;
  const boards = {
    overlayProfiles: createOverlayProfiles(images),
    installedGrub: await readInstalledGrub(),
  };
  const signing = keys?.identity ?? null;
  const { planAsset, planInstallerManifest } = createPlanners(config.build.engine, images);
  const resolving = { schematics, planAsset, ...boards, signing };
  const withdrawn = createWithdrawnReleases({
    releases: createReleaseRepository(db),
    hasReady: (version) => side.builds.hasReady(version),
  });
  const resolveOver = (offered: Pick<ReleaseService, "require">) =>
    createAssetResolving({ ...resolving, releases: offered, externalUrl });
  const resolve = resolveWithFormer({
    resolve: resolveOver(releases),
    former: [
      { isGone: lacksOwn, resolve: resolveOver(ownSide.former) },
      { isGone: lacksRelease, resolve: resolveOver(withdrawn) },
    ],
    findReady: (assetKey) => side.assets.findReady(assetKey),
    inline: (asset) => side.assets.inline(asset),
  });
  const builder = await readLockBuilder({ externalUrl, grub: boards.installedGrub, secureBoot: signing });
  const side = createBuildSide({ db, redis, subscriber, store, prefix, log, now, resolve, releases });
  const { assets } = side;
  const builds = hideSchematics(side.service, findConfigured);
  const pxe = createPxeService({ assets, schematics, releases, externalPxeUrl });
  const database = () => checkDatabase(db);
  const health = createHealthService({
    database,
    redis: () => redis.ping(),
    store,
    releases,
    missingTools: () => missingTools(TOOLS_OF_ROLE[role]),
    now,
  });
  const evidence = await createEvidenceSide({
    ...{ config, db, store, images, assets, schematics, releases, builder, log },
  });
  const onWarning = (message: string, cause: unknown) => log.warn({ err: cause }, message);
  const registrySide = createRegistrySide({
    ...{ db, store, images, assets, schematics, releases, externalUrl, dataDir: config.dataDir },
    ...boards,
    planInstallerManifest,
    ...{ signing, onWarning, findConfigured, outside: config.installerRegistry },
    ...(evidence.images ? { evidence: evidence.images, evidenceIdentity: evidence.identity } : {}),
  });
  const worker = base.blocking
    ? await createWorkerSide({
        ...{ config, side, store, images, prefix, log, now, runPlan, keys },
        keyFiles: keyFilesOf(config.secureBoot),
        run: runTool,
        connection: base.blocking,
      })
    : null;
  const services = {
    schematics,
    releases,
    assets,
    builds,
    pxe,
    health,
    keys: createKeyService(keys),
    ...evidence.services,
    ...createCatalogSide({ store, images, assets, schematics, releases, dataDir: config.dataDir }),
    lockBuilds: createLockBuilds({ resolving, images, store, builder }),
    registry: registrySide.registry,
    talosctl: registrySide.talosctl,
    own: ownSide.own,
    bootTests: createBootTestSide({ config, db, side, own: ownSide.own, releases, schematics, log, now }),
    ...createOperationSide({ db, side, store, health, releases, schematics, log, now }),
  };
  if (role === "web") ownSide.follow();
  const close = once(async () => {
    await worker?.close();
    await registrySide.close();
    await ownSide.close();
    await official.close();
    await usage.close();
    await side.close();
    await base.close();
  });
  return { config, log, services, db, redis, store, worker, close };
}

interface Base {
  db: Database;
  redis: Redis;
  subscriber: Redis;
  /** Only in a worker. */
  blocking: Redis | null;
  store: ObjectStore;
  images: SourceImages & SourceMirror;
  close(): Promise<void>;
}

async function openBase(config: Config, role: Role, log: Logger): Promise<Base> {
  const onError = (error: Error) => log.warn({ err: error }, "redis connection trouble");
  const db = createDatabase(config.database.url, { poolSize: role === "web" ? 10 : 5 });
  const redis = createRedis(config.redis.url, onError);
  const subscriber = createPatientRedis(config.redis.url, onError);
  const blocking = role === "worker" ? createPatientRedis(config.redis.url, onError) : null;
  const store = await createObjectStore(config.storage, (bucket) => log.info({ bucket }, "bucket created"));
  const { registry, username, password, verify } = config.source;
  const cacheDir = path.join(config.dataDir, "cache", "source");
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

function openReleases(config: Config, { db, images }: Base, log: Logger): ClosableReleaseService {
  return createReleaseService({
    images,
    repository: createReleaseRepository(db),
    source: config.source,
    log,
  });
}

interface OpenSchematics {
  schematics: SchematicService;
  usage: UsageRecorder;
  findConfigured: FindConfigured;
}

function openSchematics(db: Database, log: Logger): OpenSchematics {
  const repository = createSchematicRepository(db);
  const onError = (error: unknown) => log.warn({ err: error }, "last use not written");
  const usage = new UsageRecorder((ids) => repository.touch(ids), onError);
  const schematics = createSchematicService({ repository, usage });
  return { schematics, usage, findConfigured: (ids) => repository.findConfigured(ids) };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}
