/** The releases with own extensions and overlays in their catalogs, so that everything else knows only one catalog. */
import { LRUCache } from "lru-cache";
import type { OwnSourceRepository } from "../../db/own-source-repository.ts";
import { type OwnPin, withFormerOwn, withOwn } from "../../domain/own-sources.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Release } from "../../domain/release.ts";
import { versionTag } from "../../domain/versions.ts";
import type { KnownReleases } from "../catalog/contracts.ts";
import type { ReleaseService } from "../contracts.ts";

/** What another process changed is seen after this time. */
const BELIEVED_MS = 1_000;
const RELEASES = 500;

export interface OwnReleasesOptions {
  releases: ReleaseService & KnownReleases;
  rows: Pick<OwnSourceRepository, "revision" | "pins" | "usedPins">;
  /** What references shown to people begin with. */
  host: string;
  now: () => number;
  onError: (error: unknown) => void;
}

export interface OwnReleases extends ReleaseService, KnownReleases {
  /** The release with what was in use before, for names that nothing is in use for now. */
  requireFormer(version: string): Promise<Release>;
  /** The same for a release that is not offered any more. */
  withFormer(official: Release): Promise<Release>;
  /** Forgets what is remembered, after a change made here. */
  changed(): void;
}

/** The same release object is given as long as neither the release nor the own pins changed. */
export function createOwnReleases(options: OwnReleasesOptions): OwnReleases {
  const { releases, rows, host } = options;
  const pins = rememberedPins(options, () => rows.pins({ state: "adopted" }));
  const used = rememberedPins(options, () => rows.usedPins());
  const joined = new LRUCache<string, { base: Release; pins: readonly OwnPin[]; release: Release }>({
    max: RELEASES,
  });

  async function join(base: Release): Promise<Release> {
    const mine = await pins.current();
    const known = joined.get(base.version);
    if (known?.base === base && known.pins === mine) return known.release;
    const release = withOwn(base, mine, host);
    joined.set(base.version, { base, pins: mine, release });
    return release;
  }

  const require = async (version: string) => join(await releases.require(version));
  const withFormer = async (official: Release) => withFormerOwn(official, await used.current(), host);
  return {
    ...releases,
    require,
    withFormer,
    requireFormer: async (version) => withFormer(await releases.require(version)),
    known: async () => Promise.all((await releases.known()).map(join)),
    extensions: async (version) => (await require(version)).extensions,
    async overlays(version) {
      return quirks(versionTag(version)).overlays
        ? (await require(version)).overlays
        : releases.overlays(version);
    },
    changed() {
      pins.forget();
      used.forget();
    },
  };
}

/** What `read` gives; the same list as long as nothing changed. While the database is away the last one. */
function rememberedPins({ rows, now, onError }: OwnReleasesOptions, read: () => Promise<OwnPin[]>) {
  let known: { revision: string; pins: readonly OwnPin[] } | null = null;
  let askAgainAt = Number.NEGATIVE_INFINITY;
  /** Counts changes made here: what was asked before one of them does not count after it. */
  let generation = 0;
  let running: { generation: number; asking: Promise<void> } | null = null;

  async function ask(asked: number): Promise<void> {
    try {
      const revision = await rows.revision();
      // Read after the revision: at worst a newer list under an older number, which is read again.
      if (known?.revision !== revision) known = { revision, pins: await read() };
    } catch (error) {
      if (known === null) throw error;
      // While the database is away the last list is as good as the next one.
      onError(error);
    }
    if (asked === generation) askAgainAt = now() + BELIEVED_MS;
  }

  return {
    async current(): Promise<readonly OwnPin[]> {
      if (now() < askAgainAt && known !== null) return known.pins;
      if (running?.generation !== generation) {
        const asked = generation;
        const asking = ask(asked).finally(() => {
          if (running?.generation === asked) running = null;
        });
        running = { generation: asked, asking };
      }
      await running.asking;
      return known?.pins ?? [];
    },
    forget() {
      generation += 1;
      askAgainAt = Number.NEGATIVE_INFINITY;
    },
  };
}
