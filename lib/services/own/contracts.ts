/** What own extensions and overlays offer to pages and API. */
import type { Readable } from "node:stream";
import type { Arch } from "../../domain/asset.ts";
import type { BootTest } from "../../domain/boot-test.ts";
import type { ExtensionReport } from "../../domain/extension-report.ts";
import type { OwnPin, OwnSource, OwnSourceInput } from "../../domain/own-sources.ts";

/** off: nobody. admin: who has the token. everyone: whoever reaches the server. */
export type OwnMode = "off" | "admin" | "everyone";

export interface OwnAccess {
  mode: OwnMode;
  /** Whether this token, null for none, may change sources. */
  may(token: string | null): boolean;
  /** The same for what a browser keeps. */
  mayWithTicket(ticket: string | null): boolean;
  /** True for one that was good and has run out. */
  hasExpired(ticket: string | null): boolean;
  /** What a browser may keep for this token for some hours; null when it is not the right one. */
  ticket(token: string | null): string | null;
  /** forbidden when the mode is off, unauthenticated without the right token. */
  require(token: string | null): void;
}

/** A pin as people see it, its report read. */
export interface OwnPinView extends Omit<OwnPin, "report"> {
  reports: ExtensionReport[];
  errors: number;
  warnings: number;
}

export interface OwnSourceView extends OwnSource {
  /** Newest first. */
  pins: OwnPinView[];
}

export interface AdoptRequest {
  /** Version range; what the pin has unless given. */
  talos?: string;
  /** Somebody read the warnings. */
  acceptWarnings?: boolean;
}

export interface UploadRequest {
  namespace: string;
  name: string;
  body: Readable;
  /** What the sender says of the body; null when nothing. */
  sizeBytes: number | null;
  /** Read out of the ELF files inside unless given. */
  arch?: Arch;
  /** Version range, all releases unless given. */
  talos?: string;
  override?: boolean;
  acceptWarnings?: boolean;
  signal: AbortSignal;
}

export interface RemovedSource {
  /** IDs of schematics that name something of it, at most 100; those that carry a configuration are only counted. */
  schematics: string[];
  hidden: number;
}

export interface OwnSourceService {
  access: OwnAccess;
  list(): Promise<OwnSourceView[]>;
  /** not_found when there is none. */
  require(id: string): Promise<OwnSourceView>;
  requirePin(id: string): Promise<OwnPinView>;
  /** Looks at the registry first: what cannot be reached or read is not stored. conflict when the name has a source. */
  add(input: OwnSourceInput, signal: AbortSignal): Promise<OwnSourceView>;
  /** Brings what is new at the source here, checks it and offers it; nothing in use is moved. */
  look(id: string, signal: AbortSignal): Promise<OwnSourceView>;
  /** From now on builds for these releases use this image. conflict for errors, and for warnings nobody accepted. */
  adopt(pinId: string, request: AdoptRequest): Promise<OwnPinView>;
  /** Every offered pin of a source that may be adopted; the others are left. */
  adoptAll(id: string, request: AdoptRequest): Promise<OwnSourceView>;
  /** Releases do not get it any more. What was built from it stays. */
  retire(pinId: string): Promise<OwnPinView>;
  /** Unpacks, checks and packs what somebody sent, and adopts it when nothing speaks against that. */
  upload(request: UploadRequest): Promise<OwnPinView>;
  /** The checks again, against a release of choice. */
  check(pinId: string, version: string, signal: AbortSignal): Promise<ExtensionReport[]>;
  usage(id: string): Promise<RemovedSource>;
  /** Forgets the source, retires its pins, keeps its images. conflict for declared ones. */
  remove(id: string): Promise<RemovedSource>;
}

export interface BootTestService {
  /** Queues a boot of a pin with the newest release that gets it. conflict when it is not in use or one is under way. */
  request(pinId: string, requestId: string): Promise<BootTest>;
  /** The last test of a pin; not_found when there is none. */
  last(pinId: string): Promise<BootTest>;
  /** The last test of each pin that has one. */
  lastOf(pinIds: readonly string[]): Promise<BootTest[]>;
  /** For workers: builds the ISO, boots it, keeps the result. A test that somebody else took is left alone. */
  run(testId: string, requestId: string, signal: AbortSignal): Promise<void>;
}
