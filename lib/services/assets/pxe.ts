/** iPXE scripts: the same checks as the command line asset, no worker, and a memory of finished scripts. */
import { LRUCache } from "lru-cache";
import { pxeScript } from "../../domain/pxe.ts";
import type { Release } from "../../domain/release.ts";
import { versionTag } from "../../domain/versions.ts";
import { AppError } from "../../errors/app-error.ts";
import type { AssetService, PxeService, ReleaseService, SchematicService } from "../contracts.ts";

const ENTRIES = 20_000;
/** Characters of scripts held at most; kernel arguments may make one very long. */
const CHARACTERS = 16_000_000;

export interface PxeServiceOptions {
  assets: Pick<AssetService, "resolve" | "inline">;
  schematics: SchematicService;
  releases: ReleaseService;
  /** Base of the links in scripts. */
  externalPxeUrl: string;
}

/** The PXE use case. */
export function createPxeService(options: PxeServiceOptions): PxeService {
  const { assets, schematics, releases, externalPxeUrl } = options;
  const scripts = new LRUCache<string, { release: Release; script: string }>({
    max: ENTRIES,
    maxSize: CHARACTERS,
    sizeCalculation: ({ script }, name) => name.length + script.length,
  });

  async function make(schematicId: string, version: string, platarch: string): Promise<string> {
    const asset = await assets.resolve({ schematicId, version, path: `cmdline-${platarch}` });
    const cmdline = assets.inline(asset);
    if (cmdline === null) throw new AppError("internal", `no command line for ${platarch}`);
    return pxeScript({
      baseUrl: externalPxeUrl,
      schematicId,
      version: asset.version,
      profile: asset.profile,
      cmdline: new TextDecoder().decode(cmdline),
    });
  }

  /** Null for a version that is not offered; what is left of it `make` knows. */
  async function offered(version: string): Promise<Release | null> {
    try {
      return await releases.require(versionTag(version));
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return null;
      throw error;
    }
  }

  return {
    async script({ schematicId, version, platarch }) {
      const name = `${schematicId}/${version}/${platarch}`;
      const known = scripts.get(name);
      if (known !== undefined && (await schematics.find(schematicId)) !== null) {
        // Released objects stay the same while their digests do.
        if ((await offered(version)) === known.release) return known.script;
      }
      const script = await make(schematicId, version, platarch);
      const release = await offered(version);
      if (release !== null) scripts.set(name, { release, script });
      return script;
    },
  };
}
