/** One release in the list of this process: what is known, what is missing, and its record for the database. */
import type { Release } from "../../domain/release.ts";
import type { ReleaseInputs, ReleaseRecord } from "../../domain/release-record.ts";
import type { AppError } from "../../errors/app-error.ts";

export interface ReleaseEntry {
  version: string;
  broken: boolean;
  /** Tags that are not there. */
  missingTags: string[];
  /** Images named by the catalogs that are not there. */
  missingNames: string[];
  namesChecked: boolean;
  /** Why what the source has cannot be used: not signed, or not readable. */
  refusal: AppError | null;
  inputs: ReleaseInputs | null;
  /** The same object as long as the digests stay the same. */
  release: Release | null;
}

export const emptyEntry = (version: string, broken = false): ReleaseEntry => ({
  version,
  broken,
  missingTags: [],
  missingNames: [],
  namesChecked: false,
  refusal: null,
  inputs: null,
  release: null,
});

/** What people are told about the completeness of a release. */
export function missingOf(entry: ReleaseEntry): string[] {
  const refusal = entry.refusal === null ? [] : [entry.refusal.message];
  return [...entry.missingTags, ...entry.missingNames, ...refusal];
}

/** A release is offered while nothing is known to be missing. */
export function isListed(entry: ReleaseEntry): boolean {
  return stateOf(entry) === "complete";
}

export function stateOf(entry: ReleaseEntry): ReleaseRecord["state"] {
  if (entry.broken) return "broken";
  return missingOf(entry).length === 0 ? "complete" : "incomplete";
}

/** True when both were read from the same images. */
export function sameInputs(a: ReleaseInputs | null, b: ReleaseInputs): boolean {
  return a !== null && JSON.stringify(inputList(a)) === JSON.stringify(inputList(b));
}

const inputList = (inputs: ReleaseInputs) => [
  inputs.imager.digest,
  inputs.baseInstaller?.repository,
  inputs.baseInstaller?.digest,
  inputs.extensions,
  inputs.overlays,
];

export function recordOfEntry(entry: ReleaseEntry, registry: string, checkedAt: Date): ReleaseRecord {
  return {
    version: entry.version,
    state: stateOf(entry),
    missing: missingOf(entry),
    sample: entry.release?.sample ?? false,
    registry,
    inputs: entry.inputs,
    namesChecked: entry.namesChecked,
    extensions: entry.release?.extensions ?? [],
    overlays: entry.release?.overlays ?? [],
    checkedAt,
  };
}

/** What was missing is carried over as it was told, until the next look at the source sorts it. */
export function fromRecord(record: ReleaseRecord): ReleaseEntry {
  const { version, inputs, sample, extensions, overlays } = record;
  const release =
    inputs === null
      ? null
      : { version, sample, imager: inputs.imager, baseInstaller: inputs.baseInstaller, extensions, overlays };
  return {
    ...emptyEntry(version, record.state === "broken"),
    missingNames: record.missing,
    namesChecked: record.namesChecked,
    inputs,
    release,
  };
}
