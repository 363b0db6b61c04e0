/** The list of releases of this process: trusted for a while, refreshed by the next reader, not lost with the registry. */
import { setMaxListeners } from "node:events";
import type { ReleaseRepository } from "../../db/release-repository.ts";
import type { Release } from "../../domain/release.ts";
import { selectVersions } from "../../domain/versions.ts";
import { AppError } from "../../errors/app-error.ts";
import type { SourceImages } from "../../oci/types.ts";
import { discoverReleases } from "./discovery.ts";
import { fromRecord, isListed, type ReleaseEntry, recordOfEntry } from "./entry.ts";
import { ReleaseExaminer, type ReleaseLog } from "./examination.ts";

export interface ReleaseSource {
  registry: string;
  publicName: string;
  refreshMs: number;
  minVersion: string;
  brokenVersions: string[];
}

export interface ReleaseListOptions {
  images: SourceImages;
  repository: ReleaseRepository;
  source: ReleaseSource;
  log: ReleaseLog;
  now: () => number;
}

/** A whole look at the source may take this long. */
const REFRESH_LIMIT_MS = 20 * 60_000;
/** After a failure the registry is left alone for this long, or for refreshMs when that is shorter. */
const FAILURE_PAUSE_MS = 5_000;
/** How long new releases may be examined before they are listed: when nobody has a list yet, and when there is one. */
const FIRST_EXAMINATION_MS = 3_000;
const LATER_EXAMINATION_MS = 60_000;
const RETRY_AFTER_SECONDS = 30;
/** Two releases are examined beside the search for new ones, each with eight requests and what waits for them. */
const MOST_WAITING = 64;

export class ReleaseList {
  readonly #options: ReleaseListOptions;
  readonly #examiner: ReleaseExaminer;
  readonly #stop = new AbortController();
  /** All known versions, ascending; what is known about each is with the examiner. */
  #versions: string[] = [];
  #loaded: Promise<void> | null = null;
  #refreshing: Promise<void> | null = null;
  #examining: Promise<void> | null = null;
  #failedAt: number | null = null;
  #failure: AppError | null = null;
  #checkedAt: Date | null = null;

  constructor(options: ReleaseListOptions) {
    this.#options = options;
    const { images, source, repository, log } = options;
    const context = { images, registry: source.registry, publicName: source.publicName };
    // Many requests hang on this one signal at a time; more than these are a leak that Node should tell of.
    setMaxListeners(MOST_WAITING, this.#stop.signal);
    this.#examiner = new ReleaseExaminer({ context, repository, log, signal: this.#stop.signal });
  }

  /** When the list was last read from the registry, why that failed last time. */
  get status(): { checkedAt: Date | null; failure: string | null } {
    return { checkedAt: this.#checkedAt, failure: this.#failure?.message ?? null };
  }

  /** All known releases, ascending. Waits only while there never was a list; upstream_unavailable when there is none. */
  async entries(): Promise<ReleaseEntry[]> {
    await this.#ready();
    return this.#versions.map((version) => this.#examiner.entry(version));
  }

  /** One known release, or null; waits and fails like entries(). */
  async entry(version: string): Promise<ReleaseEntry | null> {
    await this.#ready();
    return this.#versions.includes(version) ? this.#examiner.entry(version) : null;
  }

  /** The release of a listed version, read from the source when nobody did before; null when it is not whole after all. */
  async read(version: string): Promise<Release | null> {
    if (!this.#examiner.entry(version).release) await this.askAgain(version);
    const entry = this.#examiner.entry(version);
    if (entry.refusal) throw entry.refusal;
    return isListed(entry) ? entry.release : null;
  }

  /** Looks at the tags of a version now, whenever that was done last; throws when the source cannot be asked. */
  askAgain(version: string): Promise<void> {
    return this.#examiner.read(version);
  }

  /** Resolves when nothing goes on in the background. */
  async idle(): Promise<void> {
    while (this.#refreshing !== null || this.#examining !== null) {
      await Promise.allSettled([this.#refreshing, this.#examining]);
    }
  }

  /** Ends what goes on in the background. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  async #ready(): Promise<void> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    if (this.#checkedAt === null) await this.#refreshOnce();
    // The old list is served meanwhile; the failure is kept and told by status.
    else if (this.#isDue()) this.#refreshOnce().catch(() => undefined);
  }

  #isDue(): boolean {
    const { now, source } = this.#options;
    const pause = Math.min(FAILURE_PAUSE_MS, source.refreshMs);
    if (this.#failedAt !== null && now() - this.#failedAt < pause) return false;
    return this.#checkedAt === null || now() - this.#checkedAt.getTime() >= source.refreshMs;
  }

  /** The kept list, filtered by today's configuration. Without it, or without a database, the registry is asked. */
  async #load(): Promise<void> {
    const { repository, source, log } = this.#options;
    try {
      const records = await repository.load(source.registry);
      const known = new Map(records.map((record) => [record.version, record]));
      const { all, isBroken } = this.#select([...known.keys()]);
      for (const record of all.map((version) => known.get(version))) {
        if (!record) continue;
        this.#examiner.put({ ...fromRecord(record), broken: isBroken(record.version) });
        this.#versions.push(record.version);
        if (!this.#checkedAt || record.checkedAt > this.#checkedAt) this.#checkedAt = record.checkedAt;
      }
    } catch (error) {
      log.warn({ err: error }, "the kept list of releases cannot be read");
    }
  }

  /** One refresh at a time; right after a failure the same failure is told again instead of asking the registry. */
  #refreshOnce(): Promise<void> {
    if (this.#refreshing !== null) return this.#refreshing;
    if (this.#failure && !this.#isDue()) return Promise.reject(this.#failure);
    this.#refreshing = this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { log, now } = this.#options;
    try {
      await this.#readList();
    } catch (error) {
      this.#failedAt = now();
      this.#failure = toUnavailable(error);
      if (!this.#stop.signal.aborted) log.warn({ err: error }, "the list of releases could not be refreshed");
      throw this.#failure;
    }
    if (this.#failure) log.info({}, "the source registry is back");
    this.#failure = null;
    this.#failedAt = null;
    const newestFirst = this.#versions.filter((version) => {
      const { broken, missingTags } = this.#examiner.entry(version);
      return !broken && missingTags.length === 0;
    });
    this.#examineInBackground(newestFirst.reverse());
  }

  async #readList(): Promise<void> {
    const { images, repository, source, log, now } = this.#options;
    const startedAt = new Date(now());
    const selection = { min: source.minVersion, broken: source.brokenVersions };
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(REFRESH_LIMIT_MS)]);
    const found = await discoverReleases(images, selection, signal);
    const missing = new Map(found.versions.map((one) => [one.version, one.missing]));
    const { all, isBroken } = this.#select([...missing.keys(), ...found.broken]);
    for (const version of all) {
      const missingTags = missing.get(version) ?? [];
      this.#examiner.put({ ...this.#examiner.entry(version), broken: isBroken(version), missingTags });
    }
    await this.#examineNew(all);
    this.#versions = all;
    this.#examiner.keepOnly(new Set(all));
    this.#checkedAt = startedAt;
    const records = all.map((version) =>
      recordOfEntry(this.#examiner.entry(version), source.registry, startedAt),
    );
    await repository
      .replaceAll(records)
      .catch((error: unknown) => log.warn({ err: error }, "the list of releases cannot be written down"));
  }

  /** New releases are examined before they are listed, newest first, as far as the time allows. */
  async #examineNew(all: string[]): Promise<void> {
    const entries = all.map((version) => this.#examiner.entry(version));
    const fresh = entries.filter((entry) => entry.inputs === null && isListed(entry));
    if (fresh.length === 0) return;
    const limitMs = this.#checkedAt === null ? FIRST_EXAMINATION_MS : LATER_EXAMINATION_MS;
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    const examined = this.#examiner.examineAll(fresh.map((entry) => entry.version).reverse());
    await Promise.race([examined, timeUp]);
    clearTimeout(timer);
  }

  #examineInBackground(versions: string[]): void {
    if (this.#examining !== null) return;
    this.#examining = this.#examiner.examineAll(versions).finally(() => {
      this.#examining = null;
    });
  }

  #select(versions: string[]): { all: string[]; isBroken: (version: string) => boolean } {
    const { minVersion: min, brokenVersions: broken } = this.#options.source;
    const offered = new Set(selectVersions(versions, { min, broken }));
    const all = selectVersions(versions, { min, broken: [] });
    return { all, isBroken: (version) => !offered.has(version) };
  }
}

function toUnavailable(error: unknown): AppError {
  if (error instanceof AppError && error.code === "upstream_unavailable") return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError("upstream_unavailable", `cannot fetch the list of releases: ${reason}`, {
    hint: "Check SOURCE_REGISTRY; it must hold siderolabs/imager with release tags",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}
