/** Joins everything people check files with: the signing key, checksums, bills of materials, locks. */
import type { Logger } from "pino";
import { inDataDir } from "../config/data-folders.ts";
import type { Config } from "../config/types.ts";
import { createAssetNameRepository } from "../db/asset-name-repository.ts";
import type { Database } from "../db/client.ts";
import { createModelLockRepository } from "../db/model-lock-repository.ts";
import { createRegistryRepository } from "../db/registry-repository.ts";
import type { LockBuilder } from "../domain/model-lock.ts";
import { openOciSigningKey } from "../keys/oci-signing-key.ts";
import type { SourceImages } from "../oci/types.ts";
import { createChecksumService } from "../services/assets/checksums.ts";
import type { AssetService, ReleaseService, SchematicService } from "../services/contracts.ts";
import { createImageEvidence } from "../services/evidence/image-evidence.ts";
import { createSbomSources } from "../services/evidence/sbom-sources.ts";
import { createSbomService } from "../services/evidence/sboms.ts";
import { createSigningService } from "../services/evidence/signing.ts";
import { createLockService } from "../services/locks/locks.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface EvidenceSideOptions {
  config: Config;
  db: Database;
  store: ObjectStore;
  images: SourceImages;
  assets: AssetService;
  schematics: SchematicService;
  releases: ReleaseService;
  /** What besides inputs decides bytes here, for locks. */
  builder: LockBuilder;
  log: Logger;
}

/** Reads the signing key, or makes it. invalid_input when the key file is unusable. */
export async function createEvidenceSide(options: EvidenceSideOptions) {
  const { config, db, store, images, assets, schematics, releases, builder, log } = options;
  const key = config.ociSigningKey && (await openOciSigningKey(config.ociSigningKey));
  const { externalUrl } = config.http;
  const { publicName } = config.source;
  const onError = (err: unknown) => log.warn({ err }, "trouble with evidence");
  const names = createAssetNameRepository(db);
  const sources = createSbomSources({
    images,
    store,
    scratchDir: inDataDir(config.dataDir, "cache/sbom"),
  });
  const signing = createSigningService(key);
  const checksums = createChecksumService({ names, assets, schematics, releases, onError });
  const sboms = createSbomService({ schematics, releases, sources, store, externalUrl, publicName });
  const rows = createModelLockRepository(db);
  const locks = createLockService({ schematics, releases, rows, publicName, builder });
  const evidence =
    signing.images &&
    createImageEvidence({
      ...{ signing: signing.images, sboms, locks, store, externalUrl, onError },
      rows: createRegistryRepository(db),
    });
  // Changes when published images should get other evidence.
  const identity = `v2:${key?.hint ?? ""}`;
  return { services: { signing, checksums, sboms, locks }, images: evidence, identity };
}
