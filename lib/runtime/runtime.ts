/** The composition root: the one place that reads the configuration and joins everything. */
import { mkdir } from "node:fs/promises";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { Config } from "../config/types.ts";
import { checkDatabase, type Database } from "../db/client.ts";
import { missingTools, runTool } from "../exec/run.ts";
import { TOOLS_OF_ROLE } from "../exec/tools.ts";
import { runPlan } from "../imager/run-plan.ts";
import { keyFilesOf, openSecureBootKeys } from "../keys/open-keys.ts";
import type { SecureBootKeys } from "../keys/types.ts";
import { createLogger } from "../log/logger.ts";
import { DEFAULT_PREFIX } from "../queue/jobs.ts";
import { createPxeService } from "../services/assets/pxe.ts";
import type { HealthService, ReleaseService, Services } from "../services/contracts.ts";
import { createKeyService } from "../services/evidence/keys.ts";
import { createLockBuilds } from "../services/locks/lock-builds.ts";
import { hideSchematics } from "../services/schematics/hidden-schematics.ts";
import { createHealthService } from "../services/status/health.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Base, type OpenSchematics, openBase, openReleases, openSchematics, type Role } from "./base.ts";
import { createCatalogSide } from "./catalog.ts";
import { createEvidenceSide } from "./evidence.ts";
import { createFileSide, type FileSide } from "./files.ts";
import { createOperationSide } from "./operation.ts";
import { createBootTestSide, createOwnSide, type OwnSide } from "./own.ts";
import { createRegistrySide } from "./registry.ts";
import { createWorkerSide, type WorkerSide } from "./worker.ts";

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
  const log =
    options.log ?? createLogger({ process: role, level: config.logLevel, pretty: config.development });
  await mkdir(config.dataDir, { recursive: true });
  const keys = await openSecureBootKeys(config.secureBoot, log);
  const base = await openBase(config, role, log);
  const ground: Ground = {
    ...base,
    ...openSchematics(base.db, log),
    config,
    role,
    prefix,
    log,
    now: Date.now,
  };
  const official = openReleases(ground);
  const ownSide = createOwnSide({ ...ground, official });
  const { releases, former } = ownSide;
  const files = await createFileSide({ ...ground, releases, former, signing: keys?.identity ?? null });
  const { services, registrySide } = await joinServices(ground, ownSide, files, keys);
  const worker = base.blocking && (await openWorker(ground, files, keys, base.blocking));
  if (role === "web") ownSide.follow();
  const close = once(async () => {
    await worker?.close();
    await registrySide.close();
    await ownSide.close();
    await official.close();
    await ground.usage.close();
    await files.side.close();
    await base.close();
  });
  const { db, redis, store } = base;
  return { config, log, services, db, redis, store, worker, close };
}

/** What everything stands on: settings, servers, source, schematics. */
interface Ground extends Base, OpenSchematics {
  config: Config;
  role: Role;
  prefix: string;
  log: Logger;
  now: () => number;
}

async function joinServices(
  ground: Ground,
  { own, releases }: OwnSide,
  { side, resolving, planInstallerManifest, builder }: FileSide,
  keys: SecureBootKeys | null,
) {
  const { config, images, store, schematics, findConfigured, log } = ground;
  const { externalUrl, externalPxeUrl } = config.http;
  const { assets } = side;
  const shared = { ...ground, side, assets, releases, builder, dataDir: config.dataDir };
  const health = openHealth(ground, releases);
  const evidence = await createEvidenceSide(shared);
  const registrySide = createRegistrySide({
    ...shared,
    ...resolving,
    ...{ externalUrl, planInstallerManifest, outside: config.installerRegistry },
    onWarning: (message, cause) => log.warn({ err: cause }, message),
    ...(evidence.images ? { evidence: evidence.images, evidenceIdentity: evidence.identity } : {}),
  });
  const services: Services = {
    ...{ schematics, releases, assets, health, own },
    builds: hideSchematics(side.service, findConfigured),
    pxe: createPxeService({ assets, schematics, releases, externalPxeUrl }),
    keys: createKeyService(keys),
    ...evidence.services,
    ...createCatalogSide(shared),
    lockBuilds: createLockBuilds({ resolving, images, store, builder }),
    registry: registrySide.registry,
    talosctl: registrySide.talosctl,
    bootTests: createBootTestSide({ ...shared, own }),
    ...createOperationSide({ ...shared, health }),
  };
  return { services, registrySide };
}

const openHealth = ({ db, redis, store, role, now }: Ground, releases: ReleaseService): HealthService =>
  createHealthService({
    database: () => checkDatabase(db),
    redis: () => redis.ping(),
    store,
    releases,
    missingTools: () => missingTools(TOOLS_OF_ROLE[role]),
    now,
  });

const openWorker = (
  ground: Ground,
  { side }: FileSide,
  keys: SecureBootKeys | null,
  connection: Redis,
): Promise<WorkerSide> =>
  createWorkerSide({
    ...ground,
    ...{ side, runPlan, keys, connection, run: runTool },
    keyFiles: keyFilesOf(ground.config.secureBoot),
  });

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}
