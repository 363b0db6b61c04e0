/** What a source release offers: its catalogs and the digests of its images. Plain data, usable in the browser. */

export interface CatalogExtension {
  /** Repository path, for example "siderolabs/gvisor". */
  name: string;
  /** Full reference with the public registry name, without digest. */
  ref: string;
  /** sha256:<hex> of the image index or manifest. */
  digest: string;
  author: string;
  description: string;
  /** Repository path of its image where that is not its name: of own extensions, which lie in our registry. */
  repository?: string;
  own?: OwnOrigin;
}

/** Says that an entry is not official. */
export interface OwnOrigin {
  /** Which image of which own source it is. */
  pin: string;
  /** It stands in place of an official one of the same name. */
  override: boolean;
}

export interface CatalogOverlay {
  name: string;
  /** Repository path of the overlay image. */
  image: string;
  /** Tagged reference exactly as in the catalog. */
  ref: string;
  digest: string;
  own?: OwnOrigin;
}

/** An image of the source registry, pinned. */
export interface PinnedImage {
  /** Repository path below the registry, for example "siderolabs/imager". */
  repository: string;
  /** Digest of the index or manifest the tag pointed at. */
  digest: string;
}

export interface Release {
  /** Tag with leading "v". */
  version: string;
  /** True when the imager image carries the annotation or label io.casthouse.sample=true: not Talos Linux. */
  sample: boolean;
  imager: PinnedImage;
  /** installer-base from 1.10, installer before; null when the source has none. */
  baseInstaller: PinnedImage | null;
  extensions: CatalogExtension[];
  overlays: CatalogOverlay[];
}

/** The image of an extension, pinned. */
export const extensionImage = ({ name, repository, digest }: CatalogExtension): PinnedImage => ({
  repository: repository ?? name,
  digest,
});
