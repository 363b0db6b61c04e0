/** Joins own extensions: the reader of our own registry, the releases with own entries, and the use cases. */
import pLimit from "p-limit";
import type { Logger } from "pino";
import { inDataDir, UNPACKING } from "../config/data-folders.ts";
import type { Config } from "../config/types.ts";
import { createBootTestRepository } from "../db/boot-test-repository.ts";
import type { Database } from "../db/client.ts";
import { createOwnKeptRepository } from "../db/own-kept-repository.ts";
import { createOwnSourceRepository } from "../db/own-source-repository.ts";
import { createRegistryRepository } from "../db/registry-repository.ts";
import { missingTools, runTool } from "../exec/run.ts";
import { checkExtension } from "../imager/extension/check.ts";
import { createSourceImages } from "../oci/source-images.ts";
import type { SourceImages, SourceMirror } from "../oci/types.ts";
import type { KnownReleases } from "../services/catalog/contracts.ts";
import type { ReleaseService, SchematicService } from "../services/contracts.ts";
import { createSourceBlobs } from "../services/inputs/source-blobs.ts";
import { removeLeftovers } from "../services/leftovers.ts";
import { createOwnAccess } from "../services/own/access.ts";
import { createBootTestService } from "../services/own/boot-tests.ts";
import type { BootTestService, OwnSourceService } from "../services/own/contracts.ts";
import { followDeclarations } from "../services/own/declared-file.ts";
import { createExtensionTools } from "../services/own/extension-tools.ts";
import { withOwnImages } from "../services/own/images.ts";
import { createInspection } from "../services/own/inspection.ts";
import { OWN_REGISTRY, ownRegistryFetch } from "../services/own/registry-fetch.ts";
import { createOwnReleases, type OwnReleases } from "../services/own/releases.ts";
import { createRemotes } from "../services/own/remotes.ts";
import { createOwnRoom } from "../services/own/room.ts";
import { createOwnSourceService, type OwnSourceServiceOptions } from "../services/own/sources.ts";
import type { FindConfigured } from "../services/schematics/hidden-schematics.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { BuildSide } from "./builds.ts";

/** Unpacked images may be this many times as large as they are sent; scratch space is not for bombs. */
const GROWTH = 8;
/** Images that are unpacked side by side: each may need many gigabytes for a while. */
const UNPACKED_AT_ONCE = 2;
const LOOK_MS = 30 * 60_000;

/** The official images, and those below own/ out of our own tables and store. For web and worker. */
export function joinOwnImages(
  official: SourceImages & SourceMirror,
  { db, store, cacheDir }: { db: Database; store: ObjectStore; cacheDir: string },
): SourceImages & SourceMirror {
  const own = createSourceImages({
    registry: OWN_REGISTRY,
    verify: { kind: "off" },
    cacheDir,
    run: runTool,
    secondLevel: createSourceBlobs(store),
    fetch: ownRegistryFetch(createRegistryRepository(db), store),
  });
  return withOwnImages(official, own);
}

export interface OwnSideOptions {
  config: Config;
  db: Database;
  store: ObjectStore;
  /** With own ones. */
  images: SourceImages;
  /** Without own entries. */
  official: ReleaseService & KnownReleases;
  findConfigured: FindConfigured;
  log: Logger;
  now: () => number;
}

export interface OwnSide {
  releases: ReleaseService & KnownReleases;
  /** Releases with what was in use before, for files that were built then. */
  former: Pick<OwnReleases, "requireFormer" | "withFormer">;
  own: OwnSourceService;
  /** Removes what was left behind and begins to follow the file of declared sources; only a web process does. */
  follow(): void;
  close(): Promise<void>;
}

/** The use cases of own sources, and the releases that everything else works with. */
export function createOwnSide(options: OwnSideOptions): OwnSide {
  const { config, db, official, log, now } = options;
  const onError = (err: unknown) => log.warn({ err }, "trouble with own extensions");
  const rows = createOwnSourceRepository(db);
  const host = new URL(config.http.externalUrl).host;
  const releases = createOwnReleases({ releases: official, rows, host, now, onError });
  const service = serviceOptions(options, rows, releases.changed);
  let following: { close(): Promise<void> } | null = null;
  return {
    releases,
    former: releases,
    own: createOwnSourceService(service),
    follow() {
      const folders = UNPACKING.map((entry) => inDataDir(config.dataDir, entry));
      removeLeftovers(folders, now()).catch(onError);
      const file = config.own.declarations;
      if (file === null) return;
      const onApplied = (count: number) => log.info({ file, count }, "declared sources applied");
      following = followDeclarations({ file, service, onApplied, onError });
    },
    close: async () => following?.close(),
  };
}

function serviceOptions(
  { config, db, store, images, official, findConfigured, now }: OwnSideOptions,
  rows: OwnSourceServiceOptions["rows"],
  onChange: () => void,
): OwnSourceServiceOptions {
  const { mode, adminToken, authFile, privateHosts, maxBytes, maxCount, maxTotalBytes } = config.own;
  // Not that of builds: a worker that starts removes what is no build's.
  const scratchDir = inDataDir(config.dataDir, "own-scratch");
  return {
    ...{ rows, official, findConfigured, onChange, maxBytes, maxCount, now, lookMs: LOOK_MS },
    turn: pLimit(UNPACKED_AT_ONCE),
    releases: official,
    access: createOwnAccess(mode, adminToken, now),
    openRemote: createRemotes({
      ...{ authFile, privateHosts, run: runTool, everyone: mode === "everyone" },
    }),
    inspection: createInspection({ images, check: checkExtension, scratchDir, maxBytes: maxBytes * GROWTH }),
    place: {
      store,
      rows: createRegistryRepository(db),
      room: createOwnRoom({ rows: createOwnKeptRepository(db), mostBytes: maxTotalBytes }),
    },
    tools: createExtensionTools({ run: runTool }),
  };
}

export interface BootTestSideOptions {
  config: Pick<Config, "dataDir">;
  db: Database;
  side: Pick<BuildSide, "assets" | "producer">;
  own: OwnSourceService;
  releases: ReleaseService;
  schematics: SchematicService;
  log: Logger;
  now: () => number;
}

/** Boot tests of own extensions: web processes queue them, workers run them. */
export function createBootTestSide(options: BootTestSideOptions): BootTestService {
  const { config, db, side, own, releases, schematics, log, now } = options;
  return createBootTestService({
    ...{ own, releases, schematics, now, run: runTool, assets: side.assets, producer: side.producer },
    rows: createBootTestRepository(db),
    hasQemu: async () => (await missingTools(["qemu-system-x86_64"])).length === 0,
    scratchDir: inDataDir(config.dataDir, "boot-scratch"),
    onError: (err) => log.warn({ err }, "trouble with a boot test"),
  });
}
