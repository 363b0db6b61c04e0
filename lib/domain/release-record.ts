/** What is remembered about a release between two looks at the source, and across restarts. */
import type { CatalogExtension, CatalogOverlay, PinnedImage } from "./release.ts";

/** What the tags of a release pointed at when it was last read. */
export interface ReleaseInputs {
  /** Address of the source registry: a list of another registry is worth nothing. */
  registry: string;
  imager: PinnedImage;
  /** Null when the source has no installer images at all. */
  baseInstaller: PinnedImage | null;
  /** Digest of the extensions catalog image. */
  extensions: string;
  /** Digest of the overlays catalog image; null where the release or the source has none. */
  overlays: string | null;
}

export interface ReleaseRecord {
  /** Tag with leading "v". */
  version: string;
  state: "complete" | "incomplete" | "broken";
  /** Tags and images that are not there, for people. */
  missing: string[];
  sample: boolean;
  registry: string;
  /** Null until the release was read for the first time; the catalogs are empty then. */
  inputs: ReleaseInputs | null;
  /** True when every image that the catalogs name was looked for and found. */
  namesChecked: boolean;
  extensions: CatalogExtension[];
  overlays: CatalogOverlay[];
  checkedAt: Date;
}
