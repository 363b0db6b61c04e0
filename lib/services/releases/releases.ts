/** The releases of the source registry as pages, API and builds see them. */
import type { ReleaseRepository } from "../../db/release-repository.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Release } from "../../domain/release.ts";
import { formatVersion, parseVersionLeniently, versionTag } from "../../domain/versions.ts";
import { notFound } from "../../errors/app-error.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { KnownReleases } from "../catalog/contracts.ts";
import type { ReleaseService } from "../contracts.ts";
import { isListed, missingOf, stateOf } from "./entry.ts";
import type { ReleaseLog } from "./examination.ts";
import { ReleaseList, type ReleaseSource } from "./list.ts";

export interface ReleaseServiceOptions {
  images: SourceImages;
  repository: ReleaseRepository;
  source: ReleaseSource & { verify: { kind: "off" | "key" | "keyless" } };
  log: ReleaseLog;
  now?: () => number;
}

export interface ClosableReleaseService extends ReleaseService, KnownReleases {
  /** Resolves when nothing goes on in the background. */
  idle(): Promise<void>;
  /** Ends what goes on in the background. */
  close(): Promise<void>;
}

/** The service over one source registry. The registry is asked by the first reader, not at start. */
export function createReleaseService(options: ReleaseServiceOptions): ClosableReleaseService {
  const { source } = options;
  if (source.verify.kind === "off") warnUnverified(options);
  const list = new ReleaseList({ ...options, now: options.now ?? Date.now });
  return {
    ...reads(list),
    askAgain: (version) => list.askAgain(versionTag(version)),
    idle: () => list.idle(),
    close: () => list.close(),
    brokenVersions: () => source.brokenVersions.map(withV),
    status: () => ({ registry: source.registry, verification: source.verify.kind, ...list.status }),
  };
}

type Reads = "require" | "versions" | "known" | "summaries" | "extensions" | "overlays";

function reads(list: ReleaseList): Pick<ClosableReleaseService, Reads> {
  const listed = async () => (await list.entries()).filter(isListed);
  return {
    require: (version) => requireRelease(list, version),
    versions: async () => (await listed()).map((entry) => entry.version),
    known: async () => (await listed()).flatMap((entry) => entry.release ?? []),
    async summaries() {
      const entries = await list.entries();
      return entries.reverse().map((entry) => ({
        version: entry.version,
        state: stateOf(entry),
        missing: missingOf(entry),
        sample: entry.release?.sample ?? false,
        extensionCount: entry.release?.extensions.length ?? 0,
        overlayCount: entry.release?.overlays.length ?? 0,
      }));
    },
    extensions: async (version) => (await requireRelease(list, version)).extensions,
    async overlays(version) {
      if (!quirks(versionTag(version)).overlays) return [];
      return (await requireRelease(list, version)).overlays;
    },
  };
}

async function requireRelease(list: ReleaseList, version: string): Promise<Release> {
  const tag = versionTag(version);
  const entry = await list.entry(tag);
  if (entry?.refusal && !entry.broken) throw entry.refusal;
  const release = entry && isListed(entry) ? await list.read(tag) : null;
  if (release) return release;
  const missing = entry && !entry.broken ? missingOf(entry) : [];
  throw notFound(`version ${tag.slice(1)} is not available`, {
    hint:
      missing.length === 0 ? "GET /versions lists what is offered" : `The source lacks ${missing.join(", ")}`,
  });
}

function warnUnverified({ log, source }: ReleaseServiceOptions): void {
  log.warn(
    { registry: source.registry },
    "SOURCE_VERIFY is off: images of the source are used without signature",
  );
}

function withV(text: string): string {
  const version = parseVersionLeniently(text);
  return version === null ? text : `v${formatVersion(version)}`;
}
