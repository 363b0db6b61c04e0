/** The catalog over all releases that were read, and what is inside the images it names. */
import { buildCatalog, type CatalogIndex, findEntry } from "../../domain/catalog/catalog-index.ts";
import type { Release } from "../../domain/release.ts";
import type { ReleaseService } from "../contracts.ts";
import type { CatalogService, KnownReleases } from "./contracts.ts";
import type { ImageContentsReader } from "./image-contents.ts";

export interface CatalogOptions {
  releases: KnownReleases & Pick<ReleaseService, "versions">;
  contents: ImageContentsReader;
}

const sameReleases = (a: readonly Release[], b: readonly Release[]): boolean =>
  a.length === b.length && a.every((release, index) => release === b[index]);

/** The service. The index is made again only when a release was read anew: the list hands out the same objects until then. */
export function createCatalogService({ releases, contents }: CatalogOptions): CatalogService {
  let kept: { of: readonly Release[]; index: CatalogIndex } | null = null;

  async function currentIndex(): Promise<CatalogIndex> {
    const known = await releases.known();
    if (kept === null || !sameReleases(kept.of, known)) kept = { of: known, index: buildCatalog(known) };
    return kept.index;
  }

  return {
    async index() {
      const index = await currentIndex();
      const read = new Set(index.releases);
      const unread = (await releases.versions()).filter((version) => !read.has(version)).reverse();
      return { ...index, unread };
    },
    find: async (kind, name) => findEntry(await currentIndex(), kind, name),
    transferBytes: (image, arch, signal) => contents.transferBytes({ ...image, arch }, signal),
    findContents: (image, arch) => contents.find({ ...image, arch }),
    readContents: (image, arch, signal) => contents.read({ ...image, arch }, signal),
  };
}
