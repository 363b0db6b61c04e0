/** What is known across releases: catalogs turned around, comparisons, upgrade checks. */
import type { Arch } from "../../domain/asset.ts";
import type {
  CatalogEntry,
  CatalogIndex,
  EntryKind,
  EntryVersion,
} from "../../domain/catalog/catalog-index.ts";
import type { WrittenSide } from "../../domain/compare-side.ts";
import type { DiffItem } from "../../domain/list-diff.ts";
import type { MachineTarget } from "../../domain/machine-target.ts";
import type { Release } from "../../domain/release.ts";
import type { CatalogChange } from "../../domain/release-diff.ts";
import type { SchematicDiff } from "../../domain/schematic-diff.ts";
import type { UpgradeCheck } from "../../domain/upgrade/upgrade-types.ts";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";
import type { StoredSchematic } from "../schematics/stored-schematic.ts";

/** Releases as far as they were read; asking never starts reading one. */
export interface KnownReleases {
  /** Offered releases whose catalogs were read, ascending. Waits and fails as the list of versions does. */
  known(): Promise<Release[]>;
}

export interface ImageFile {
  /** Path inside the image, for example "rootfs/usr/local/bin/thing". */
  path: string;
  sizeBytes: number;
  /** Where a symbolic link points, null for a file. */
  target: string | null;
}

export interface ImageContents {
  /** Layers as they are transferred. */
  compressedBytes: number;
  unpackedBytes: number;
  /** Files and links, all of them. */
  fileCount: number;
  /** In byte order of their paths, at most MOST_FILES of them. */
  files: ImageFile[];
  /** What an extension says of itself; null for other images and for a manifest that cannot be read. */
  manifest: ExtensionMetadata | null;
}

export interface CatalogView extends CatalogIndex {
  /** Offered releases whose catalogs were not read yet, newest first. */
  unread: string[];
}

export interface CatalogService {
  index(): Promise<CatalogView>;
  find(kind: EntryKind, name: string): Promise<CatalogEntry | null>;
  /** Bytes to transfer for one architecture; asks the source for a manifest when nobody did before. */
  transferBytes(image: EntryVersion, arch: Arch, signal?: AbortSignal): Promise<number>;
  /** What was read before; null when nobody asked for it yet. Never asks the source. */
  findContents(image: EntryVersion, arch: Arch): Promise<ImageContents | null>;
  /** Fetches and unpacks the image when nobody did before. Goes on while others wait for the same. */
  readContents(image: EntryVersion, arch: Arch, signal?: AbortSignal): Promise<ImageContents>;
}

export interface ComparedSide {
  /** Null when only releases are compared. */
  id: string | null;
  /** With "v". */
  version: string;
  sample: boolean;
}

export interface ComparedFile {
  path: string;
  /** Bytes of the ready file; null when it is not ready or cannot be made. */
  before: number | null;
  after: number | null;
}

export interface Comparison {
  before: ComparedSide;
  after: ComparedSide;
  target: MachineTarget;
  /** With the empty schematic on both sides when only releases are compared. */
  diff: SchematicDiff;
  /** What differs between the catalogs; only where the releases differ. */
  catalogs: CatalogChange[];
  /** Files that are ready on one side at least. */
  files: ComparedFile[];
}

export interface CompareService {
  /**
   * What one side leaves out is taken from the other. Errors: schematic (404), version syntax (400),
   * version existence (404). `secret` stands for a machine configuration of so many lines.
   */
  compare(
    sides: { before: WrittenSide; after: WrittenSide },
    target: MachineTarget,
    secret: (lines: number) => string,
  ): Promise<Comparison>;
}

export interface UpgradeRequest {
  schematicId: string;
  /** As written, "v" optional; null when nobody says what runs now. */
  from: string | null;
  /** As written; null for the newest stable release. */
  to: string | null;
  target: MachineTarget;
  /** Extensions and parts to leave out where the target lacks them. */
  leaveOut: string[];
}

export interface UpgradeReport {
  stored: StoredSchematic;
  /** With "v". */
  from: string | null;
  to: string;
  /** True when the target is the sample release. */
  sample: boolean;
  target: MachineTarget;
  check: UpgradeCheck;
  /** Command lines of a disk image before and after; null when nobody says what runs now. */
  commandLine: DiffItem<string>[] | null;
}

export interface UpgradeService {
  /** Errors: schematic (404), version syntax (400), version existence (404). */
  check(request: UpgradeRequest): Promise<UpgradeReport>;
  /** Stores the schematic that fits. conflict when something is left that the target refuses; errors as check. */
  migrate(request: UpgradeRequest): Promise<{ stored: StoredSchematic; report: UpgradeReport }>;
}

export interface CatalogSide {
  catalog: CatalogService;
  comparing: CompareService;
  upgrades: UpgradeService;
}
