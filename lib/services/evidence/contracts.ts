/** What people can check files with: signatures, checksums, bills of materials, the list of inputs. */
import type { Arch } from "../../domain/asset.ts";
import type { ModelLock } from "../../domain/model-lock.ts";
import type { ImageSigning } from "./image-signing.ts";

export interface SigningService {
  /** SubjectPublicKeyInfo as PEM; not_found when the factory has no signing key. */
  publicKeyPem(): string;
  /** The Sigstore bundle of a file, given its SHA-256 in hex; not_found when the factory has no signing key. */
  fileBundle(sha256: string): Uint8Array;
  /** Null when the factory has no signing key. */
  images: ImageSigning | null;
}

/** A file under the name it was given out. */
export interface ServedFile {
  schematicId: string;
  /** With "v". */
  version: string;
  /** Last path segment without sidecar suffix. */
  path: string;
}

export interface ChecksumService {
  /** Remembers that a file was given out under this name. Never fails: a lost name is missing in a list. */
  note(file: ServedFile): Promise<void>;
  /**
   * Lines of sha256sum for every file of the schematic and version that was asked for and is ready; builds nothing.
   * Errors: schematic (404), version syntax (400), version existence (404).
   */
  sums(schematicId: string, version: string): Promise<string>;
}

export interface SbomRequest {
  schematicId: string;
  /** As written in the URL, "v" optional. */
  version: string;
  arch: string;
  format: "spdx" | "cyclonedx";
}

export interface SbomDocument {
  bytes: Uint8Array;
  /** With "v". */
  version: string;
  arch: Arch;
}

export interface SbomService {
  /**
   * The bill of materials of what a schematic makes. Errors in this order: schematic (404), version syntax (400),
   * architecture (400), version existence (404), extension or overlay (400), source (503).
   * `minimum` refuses older versions (400) after the syntax check.
   */
  document(request: SbomRequest, options?: { minimum?: string; signal?: AbortSignal }): Promise<SbomDocument>;
}

export interface LockService {
  /** Errors: schematic (404), version syntax (400), version existence (404), extension or overlay (400). */
  lock(schematicId: string, version: string): Promise<ModelLock>;
  /** Keeps a lock that somebody brings. invalid_input for what is no lock, not_found for an unknown schematic. */
  keep(document: unknown): Promise<{ id: string; lock: ModelLock }>;
  /** A kept lock; not_found naming the ID. */
  require(id: string): Promise<ModelLock>;
}
