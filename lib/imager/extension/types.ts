/** What an extension is checked and packed from. */
import type { Arch } from "../../domain/asset.ts";

/** The release that an extension is checked against. */
export interface CheckedRelease {
  /** With "v". */
  version: string;
  /** Release of its kernel, such as "6.12.25-talos"; null when it is not known. */
  kernel: string | null;
}

/** An extension as a folder that holds manifest.yaml and rootfs. */
export interface ExtensionTree {
  dir: string;
  /** SELinux labels by relative path, where the archive carried any. */
  selinuxLabels?: Record<string, string>;
}

export interface CheckOptions {
  arch: Arch;
  release: CheckedRelease | null;
  signal?: AbortSignal;
}

/** Limits of an archive that somebody sends. */
export interface UnpackLimits {
  /** Bytes after decompression. */
  maxBytes: number;
  maxEntries: number;
}

/** What one layer of an extension image is. */
export interface PackedLayer {
  /** gzip tar file. */
  file: string;
  /** sha256:<hex> of the file. */
  digest: string;
  sizeBytes: number;
  /** sha256:<hex> of the tar inside. */
  diffId: string;
}
