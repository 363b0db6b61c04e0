/** Joins what is known across releases: catalog, comparisons, upgrade checks. */
import { inDataDir } from "../config/data-folders.ts";
import type { SourceImages } from "../oci/types.ts";
import { createCatalogService } from "../services/catalog/catalog.ts";
import { createCompareService } from "../services/catalog/comparing.ts";
import type { CatalogSide, KnownReleases } from "../services/catalog/contracts.ts";
import { createImageContents } from "../services/catalog/image-contents.ts";
import { createUpgradeService } from "../services/catalog/upgrades.ts";
import type { AssetService, ReleaseService, SchematicService } from "../services/contracts.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface CatalogSideOptions {
  store: ObjectStore;
  images: SourceImages;
  assets: AssetService;
  schematics: SchematicService;
  releases: ReleaseService & KnownReleases;
  dataDir: string;
}

/** Nothing is asked of the source before somebody looks into an image. */
export function createCatalogSide(options: CatalogSideOptions): CatalogSide {
  const { store, images, assets, schematics, releases, dataDir } = options;
  const scratchDir = inDataDir(dataDir, "cache/contents");
  const contents = createImageContents({ images, store, scratchDir });
  return {
    catalog: createCatalogService({ releases, contents }),
    comparing: createCompareService({ schematics, releases, assets }),
    upgrades: createUpgradeService({ schematics, releases }),
  };
}
