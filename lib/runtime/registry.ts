/** Joins what the registry and the talosctl downloads need. */
import { inDataDir } from "../config/data-folders.ts";
import type { Database } from "../db/client.ts";
import { createRegistryRepository } from "../db/registry-repository.ts";
import type { SigningIdentity } from "../domain/recipe-types.ts";
import { createRegistryPush } from "../oci/registry-push.ts";
import type { SourceImages, SourceMirror } from "../oci/types.ts";
import { type AssetResolvingOptions, createAssetResolving } from "../services/assets/asset-resolving.ts";
import { createTalosctlService } from "../services/assets/talosctl.ts";
import type {
  AssetService,
  ReleaseService,
  SchematicService,
  TalosctlService,
} from "../services/contracts.ts";
import type { OverlayProfiles } from "../services/inputs/overlay-profiles.ts";
import type { ImageEvidence, RegistryService } from "../services/registry/contracts.ts";
import { createInstallers } from "../services/registry/installers.ts";
import { createOutsideRegistry } from "../services/registry/outside.ts";
import { createRegistryOwn } from "../services/registry/own.ts";
import { createRegistryService } from "../services/registry/registry.ts";
import { createRegistrySource } from "../services/registry/source.ts";
import type { FindConfigured } from "../services/schematics/hidden-schematics.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface RegistrySideOptions {
  db: Database;
  store: ObjectStore;
  images: SourceImages & SourceMirror;
  assets: AssetService;
  schematics: SchematicService;
  releases: ReleaseService;
  externalUrl: string;
  dataDir: string;
  overlayProfiles: OverlayProfiles;
  installedGrub: Readonly<Record<string, string>>;
  signing: SigningIdentity | null;
  planInstallerManifest: AssetResolvingOptions["planAsset"];
  /** Signs new images; without it they are published as they are. */
  evidence?: ImageEvidence;
  findConfigured: FindConfigured;
  /** Gets finished installers; null without. */
  outside?: { registry: string; username: string | null; password: string | null } | null;
  onWarning?: (message: string, cause: unknown) => void;
  /** Names the key that signs: images signed by another one are published anew, with equal digests. */
  evidenceIdentity?: string;
}

/** Both are stateless but for short memories, so any number of web processes may have them. */
export function createRegistrySide(options: RegistrySideOptions): {
  registry: RegistryService;
  talosctl: TalosctlService;
  close(): Promise<void>;
} {
  const { db, store, images, assets, schematics, releases, externalUrl, signing } = options;
  const rows = createRegistryRepository(db);
  const resolve = createAssetResolving({
    ...{ schematics, releases, externalUrl, signing },
    overlayProfiles: options.overlayProfiles,
    installedGrub: options.installedGrub,
    planAsset: options.planInstallerManifest,
  });
  const evidence = options.evidence ?? null;
  const installers = createInstallers({
    ...{ assets, images, store, rows, evidence, schematics, releases, resolve },
    evidenceIdentity: options.evidenceIdentity ?? "",
  });
  const source = createRegistrySource({ images, store, rows });
  const outside = options.outside
    ? createOutsideRegistry({
        push: createRegistryPush(options.outside),
        ...{ rows, store, findConfigured: options.findConfigured, now: Date.now },
        ...{ onWarning: options.onWarning ?? (() => {}) },
      })
    : null;
  // Not that of builds: a worker that starts removes what is no build's.
  const scratchDir = inDataDir(options.dataDir, "cache/talosctl");
  return {
    registry: createRegistryService({ installers, source, own: createRegistryOwn({ rows, store }), outside }),
    talosctl: createTalosctlService({ releases, images, store, scratchDir }),
    close: async () => outside?.close(),
  };
}
