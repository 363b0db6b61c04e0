/** What the address of a result page asks for: schematic, version, platform, architecture. */
import { ARCHES } from "../../../lib/domain/asset.ts";
import { findBoardByOverlay } from "../../../lib/domain/boards.ts";
import type { DownloadTarget } from "../../../lib/domain/form/downloads.ts";
import { archOf, plainVersion } from "../../../lib/domain/form/form-state.ts";
import { findPlatform } from "../../../lib/domain/platforms.ts";
import type { Release } from "../../../lib/domain/release.ts";
import { isPrerelease } from "../../../lib/domain/versions.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import type { Services, StoredSchematic } from "../../../lib/services/contracts.ts";
import { unlessAway } from "../../unless-away.ts";

export interface Result {
  stored: StoredSchematic;
  release: Release;
  target: DownloadTarget;
  /** Board or platform in words; null for bare metal. */
  machine: string | null;
}

/** The newest stable version offered, with "v"; null when nothing is. */
export async function newestVersion(services: Services): Promise<string | null> {
  const versions = await unlessAway(services.releases.versions(), []);
  return versions.findLast((version) => !isPrerelease(version)) ?? versions.at(-1) ?? null;
}

/** Null as well while the source cannot be asked about it or has something unusable: the frame of every page says so. */
async function findRelease(services: Services, version: string): Promise<Release | null> {
  try {
    return await services.releases.require(version);
  } catch (error) {
    if (isAppError(error) && error.code !== "internal") return null;
    throw error;
  }
}

/** Null when the schematic or the version does not exist. Unknown platforms are taken as bare metal. */
export async function findResult(
  services: Services,
  id: string,
  query: URLSearchParams,
): Promise<Result | null> {
  const stored = await services.schematics.find(id);
  const version = query.get("version") ?? (await newestVersion(services));
  if (stored === null || version === null) return null;
  const release = await findRelease(services, version);
  if (release === null) return null;
  const { overlay } = stored.schematic;
  const board = overlay ? findBoardByOverlay(overlay) : null;
  const onBoard = overlay !== undefined;
  const platform = onBoard ? null : findPlatform(query.get("platform") ?? "metal");
  const name = platform?.name ?? "metal";
  const arch = ARCHES.find((known) => known === query.get("arch")) ?? "amd64";
  const target: DownloadTarget = {
    platform: name,
    arch: onBoard ? "arm64" : archOf({ target: "cloud", platform: name, arch }),
    secureboot: !onBoard && query.get("secureboot") === "true",
    board: onBoard,
    version: plainVersion(release.version),
  };
  const machine = board?.label ?? overlay?.name ?? (name === "metal" ? null : (platform?.label ?? null));
  return { stored, release, target, machine };
}
