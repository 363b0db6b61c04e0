/** What is said about an extension before anyone boots it. */
import type { Arch } from "../../domain/asset.ts";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";

/** error: it cannot work, builds refuse it. warning: it may surprise, a person says yes once. hint: worth knowing. */
export type Severity = "error" | "warning" | "hint";

export interface Finding {
  /** Stable word, kebab-case: "world-writable". */
  code: string;
  severity: Severity;
  /** One sentence naming the thing. */
  message: string;
  /** Path inside the extension, where it is about one. */
  path?: string;
  /** What the author can do. */
  hint?: string;
}

/** The release that an extension is checked against. */
export interface CheckedRelease {
  /** With "v". */
  version: string;
  /** Release of its kernel, such as "6.12.25-talos"; null when it is not known. */
  kernel: string | null;
}

/** A service that an extension defines in usr/local/etc/containers/<name>.yaml, as far as people configure it. */
export interface ExtensionService {
  name: string;
  /** Environment names and values that the definition sets. */
  environment: string[];
  /** Path that the definition reads its environment from, where it does. */
  environmentFile: string | null;
  /** Where its configuration files could be mounted: destinations of its mounts. */
  mounts: { source: string; destination: string }[];
}

export interface ExtensionReport {
  /** Null when there is no manifest that can be read. */
  metadata: ExtensionMetadata | null;
  arch: Arch;
  /** Null when it was checked against no release. */
  talos: string | null;
  /** Errors first, then warnings, then hints. */
  findings: Finding[];
  files: number;
  /** Bytes of all regular files. */
  sizeBytes: number;
  services: ExtensionService[];
  /** Kernel releases that it has modules for. */
  kernels: string[];
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
