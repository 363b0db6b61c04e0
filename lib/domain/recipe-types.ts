/** The resolved build recipe: profile, schematic, version rules and catalog joined; all a plan is made from. */
import type { AssetProfile } from "./asset.ts";
import type { CatalogExtension, CatalogOverlay, PinnedImage } from "./release.ts";

export type Bootloader = "grub" | "dual-boot" | "sd-boot";
export type EnrollKeys = "if-safe" | "manual" | "force" | "off";

/** Names the keys that sign, without holding any secret: other keys give other assets. */
export interface SigningIdentity {
  /** SHA-256 of the signing certificate's DER, lower-case hex. */
  certificate: string;
  /** SHA-256 of the PCR key's SubjectPublicKeyInfo, lower-case hex. */
  pcrKey: string;
  /** SHA-256 over ready-made Secure Boot databases; null when they are made here. */
  databases: string | null;
}

export interface MetaValue {
  /** 0 to 255. */
  key: number;
  value: string;
}

export interface Recipe {
  /** Tag with leading "v". */
  version: string;
  profile: AssetProfile;
  /** Empty for a recipe that belongs to no schematic. */
  schematicId: string;
  /** Canonical YAML of the schematic, carried by the schematic extension as extraInfo from 1.7. */
  schematicText: string;
  /** Base of every link, author of the schematic extension; no trailing slash is added or removed. */
  externalUrl: string;
  imager: PinnedImage;
  /** `reference` is the name an archive of the installer gives itself; without it repository and version. */
  baseInstaller: (PinnedImage & { reference?: string }) | null;
  sample: boolean;
  /** Official extensions in schematic order, aliases resolved. Empty for kernel and cmdline. */
  extensions: CatalogExtension[];
  overlay: {
    entry: CatalogOverlay;
    options: Record<string, unknown>;
    /** The image whose files an installer carries; without it that of the entry. */
    installer?: PinnedImage;
  } | null;
  /** Only what applies to this kind and version. */
  extraKernelArgs: string[];
  /** Only what applies to this kind. */
  meta: MetaValue[];
  embeddedConfig: string | null;
  /** Resolved with defaults for iso (from 1.12) and image; null where the kind has none. */
  bootloader: Bootloader | null;
  /** 512 or 4096, for images. */
  sectorSize: number;
  /** Whole disk with the version's additions, for images; else null. */
  diskSizeBytes: number | null;
  enrollKeys: EnrollKeys;
  includeWellKnownCertificates: boolean;
  /** Distribution name in unified kernel images where it is not Talos. */
  distribution?: string;
  /** Digests of the GRUB modules installed with this factory, by GRUB platform (lib/imager/grub-modules.ts). */
  installedGrub?: Readonly<Record<string, string>>;
  /** Keys of this factory, only where the profile asks for SecureBoot. */
  signing?: SigningIdentity;
}
