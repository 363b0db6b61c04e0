/** What is known about each release of the source, and how more becomes known: read it, then look for all it names. */
import pLimit from "p-limit";
import type { ReleaseRepository } from "../../db/release-repository.ts";
import { AppError } from "../../errors/app-error.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import { emptyEntry, type ReleaseEntry, recordOfEntry, sameInputs } from "./entry.ts";
import { findMissingNames, lookAtTags, type ReadContext, readRelease } from "./reading.ts";

export interface ReleaseLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface ReleaseExaminerOptions {
  context: ReadContext;
  repository: ReleaseRepository;
  log: ReleaseLog;
  signal: AbortSignal;
}

const PARALLEL_RELEASES = 2;

/** Failures that say something about the source's contents; all others say that it could not be asked. */
const REFUSALS = new Set(["source_invalid", "not_found", "too_large", "invalid_input"]);

export class ReleaseExaminer {
  readonly #options: ReleaseExaminerOptions;
  readonly #entries = new Map<string, ReleaseEntry>();
  readonly #flights = new SingleFlight<void>();

  constructor(options: ReleaseExaminerOptions) {
    this.#options = options;
  }

  entry(version: string): ReleaseEntry {
    return this.#entries.get(version) ?? emptyEntry(version);
  }

  put(entry: ReleaseEntry): void {
    this.#entries.set(entry.version, entry);
  }

  /** Forgets every release that is not among these. */
  keepOnly(versions: ReadonlySet<string>): void {
    for (const version of this.#entries.keys()) if (!versions.has(version)) this.#entries.delete(version);
  }

  /** Reads digests, and the catalogs where these changed. What was known stays when the source cannot be asked. */
  async read(version: string): Promise<void> {
    await this.#flights.join(`release ${version}`, (signal) => this.#read(version, signal), {
      signal: this.#options.signal,
    });
  }

  /** Reads these releases in order and looks for all that their catalogs name; ends early when the source is away. */
  async examineAll(versions: string[]): Promise<void> {
    const limit = pLimit(PARALLEL_RELEASES);
    let isAway = false;
    const examine = async (version: string): Promise<void> => {
      if (isAway || this.#options.signal.aborted) return;
      try {
        await this.read(version);
        await this.#checkNames(version);
      } catch (error) {
        isAway = true;
        if (this.#options.signal.aborted) return;
        this.#options.log.warn({ err: error, version }, "releases of the source could not be examined");
      }
    };
    await Promise.all(versions.map((version) => limit(() => examine(version))));
  }

  async #read(version: string, signal: AbortSignal): Promise<void> {
    const { context } = this.#options;
    const look = await lookAtTags(context, version, signal);
    if (!look.ok) return this.#change(version, { missingTags: look.missing });
    const known = this.entry(version);
    if (known.release && known.refusal === null && sameInputs(known.inputs, look.inputs)) return;
    try {
      const release = await readRelease(context, version, look.inputs, signal);
      const isFirst = known.inputs === null;
      if (!isFirst) this.#options.log.info({ version }, "a release of the source has changed");
      const unchecked = { missingNames: [], namesChecked: false, refusal: null };
      await this.#change(version, { ...unchecked, inputs: look.inputs, release });
    } catch (error) {
      if (!(error instanceof AppError) || !REFUSALS.has(error.code)) throw error;
      this.#options.log.warn({ err: error, version }, "a release of the source cannot be used");
      await this.#change(version, { refusal: error });
    }
  }

  async #checkNames(version: string): Promise<void> {
    const { release, namesChecked, missingNames } = this.entry(version);
    if (!release || (namesChecked && missingNames.length === 0)) return;
    const { context, signal } = this.#options;
    const missing = await findMissingNames(context, release, signal);
    // The release may have been read anew meanwhile; then the next look decides.
    if (this.entry(version).release !== release) return;
    await this.#change(version, { missingNames: missing, namesChecked: true });
  }

  async #change(version: string, change: Partial<ReleaseEntry>): Promise<void> {
    const { context, repository, log } = this.#options;
    const entry = { ...this.entry(version), ...change };
    this.put(entry);
    await repository
      .update(recordOfEntry(entry, context.registry, new Date()))
      .catch((error: unknown) => log.warn({ err: error, version }, "a release could not be written down"));
  }
}
