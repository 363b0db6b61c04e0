/** What is said about an extension before anyone boots it. */
import type { ExtensionMetadata } from "../formats/extension-manifest.ts";
import type { Arch } from "./asset.ts";

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
