/** Which releases the source has: tags of the imager image, and whether the tags that go with them are there. */
import pLimit from "p-limit";
import { baseInstallerRepository, quirks } from "../../domain/quirks.ts";
import { selectVersions, type VersionSelection } from "../../domain/versions.ts";
import { AppError } from "../../errors/app-error.ts";
import type { SourceImages } from "../../oci/types.ts";
import { EXTENSIONS_CATALOG, OVERLAYS_CATALOG } from "./catalogs.ts";

export const IMAGER = "siderolabs/imager";

export interface Discovery {
  /** Offered versions with "v", ascending, each with the tags that are not there. */
  versions: { version: string; missing: string[] }[];
  /** Configured broken versions that the source has. */
  broken: string[];
  /** Tags by repository; null where the source does not have the repository at all. */
  tags: Map<string, Set<string> | null>;
}

const PARALLEL = 8;

/**
 * Reads the tag lists, five requests for a source of any size, and looks only for the tags that no list names.
 * A source without any installer image, or without any overlay catalog, offers none of those; its releases are complete.
 */
export async function discoverReleases(
  images: SourceImages,
  selection: VersionSelection,
  signal?: AbortSignal,
): Promise<Discovery> {
  const imagerTags = await images.tags(IMAGER, signal);
  const offered = selectVersions(imagerTags, selection);
  const withBroken = selectVersions(imagerTags, { ...selection, broken: [] });
  if (withBroken.length === 0) throw withoutReleases(imagerTags.length, selection);
  const broken = withBroken.filter((version) => !offered.includes(version));
  const others = [
    ...new Set([EXTENSIONS_CATALOG, OVERLAYS_CATALOG, ...offered.map(baseInstallerRepository)]),
  ];
  const lists = await Promise.all(others.map((repository) => tagsOrNull(images, repository, signal)));
  const tags = new Map<string, Set<string> | null>(
    others.map((repository, index) => [repository, lists[index] ?? null]),
  );
  tags.set(IMAGER, new Set(imagerTags));
  const limit = pLimit(PARALLEL);
  const isThere = async (repository: string, tag: string) =>
    tags.get(repository)?.has(tag) === true ||
    (await limit(() => images.findDigest(repository, tag, signal))) !== null;
  const versions = await Promise.all(
    offered.map(async (version) => {
      const needed = neededRepositories(version, tags);
      const there = await Promise.all(needed.map((repository) => isThere(repository, version)));
      return {
        version,
        missing: needed.filter((_, index) => !there[index]).map((name) => `${name}:${version}`),
      };
    }),
  );
  return { versions, broken, tags };
}

/** A registry that lost its data, or answers for another repository, must not wipe the last good list. */
const withoutReleases = (tags: number, { min }: VersionSelection): AppError =>
  new AppError(
    "upstream_unavailable",
    `none of the ${tags} tags of ${IMAGER} names a release from ${min} on`,
    {
      hint: "Check that SOURCE_REGISTRY holds the releases, and MIN_TALOS_VERSION.",
      retryAfterSeconds: 30,
    },
  );

/** Repositories in which a release must have its tag. */
function neededRepositories(version: string, tags: Discovery["tags"]): string[] {
  const optional = [
    baseInstallerRepository(version),
    ...(quirks(version).overlays ? [OVERLAYS_CATALOG] : []),
  ];
  return [IMAGER, EXTENSIONS_CATALOG, ...optional.filter((repository) => tags.get(repository) !== null)];
}

async function tagsOrNull(
  images: SourceImages,
  repository: string,
  signal?: AbortSignal,
): Promise<Set<string> | null> {
  try {
    return new Set(await images.tags(repository, signal));
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return null;
    throw error;
  }
}
