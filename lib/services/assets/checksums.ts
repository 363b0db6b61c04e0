/** SHA256SUMS of a schematic: the names people were given, each with the checksum of what it stands for now. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { AssetNameRepository } from "../../db/asset-name-repository.ts";
import { versionTag } from "../../domain/versions.ts";
import { AppError } from "../../errors/app-error.ts";
import type { AssetService, ReleaseService, SchematicService } from "../contracts.ts";
import type { ChecksumService } from "../evidence/contracts.ts";
import { requireSchematic } from "../locks/model-inputs.ts";

/** Names that this process need not write again. */
const ENTRIES = 20_000;
/** More than the grammar has for one schematic and version. */
const MOST_NAMES = 5_000;
const PARALLEL = 8;

export interface ChecksumServiceOptions {
  names: AssetNameRepository;
  assets: AssetService;
  schematics: SchematicService;
  releases: ReleaseService;
  onError: (error: unknown) => void;
}

/** The service over the table of names; names are only hints, what is ready is asked anew each time. */
export function createChecksumService(options: ChecksumServiceOptions): ChecksumService {
  const { names, assets, schematics, releases, onError } = options;
  const written = new LRUCache<string, true>({ max: ENTRIES });

  async function sumOf(schematicId: string, version: string, path: string): Promise<string | null> {
    try {
      const resolved = await assets.resolve({ schematicId, version, path });
      const inline = assets.inline(resolved);
      if (inline !== null) return createHash("sha256").update(inline).digest("hex");
      return (await assets.findReady(resolved.assetKey))?.sha256 ?? null;
    } catch (error) {
      // The source changed: what was once served cannot be made any more, and is no file of this list.
      if (error instanceof AppError && error.status < 500) return null;
      throw error;
    }
  }

  return {
    async note({ schematicId, version, path }) {
      const name = `${schematicId}/${version}/${path}`;
      if (written.has(name)) return;
      written.set(name, true);
      try {
        await names.add({ schematicId, version, path });
      } catch (error) {
        written.delete(name);
        onError(error);
      }
    },
    async sums(schematicId, writtenVersion) {
      await requireSchematic(schematics, schematicId);
      const version = versionTag(writtenVersion);
      const refusal = await releases.require(version).then(
        () => null,
        (error: unknown) => error,
      );
      const limit = pLimit(PARALLEL);
      const paths = await names.list(schematicId, version, MOST_NAMES);
      const sums = await Promise.all(
        paths.map((path) => limit(async () => ({ path, sha256: await sumOf(schematicId, version, path) }))),
      );
      const lines = sums.flatMap(({ path, sha256 }) => (sha256 === null ? [] : [`${sha256}  ${path}\n`]));
      // Of a release that is not offered any more the files that were built stay.
      if (refusal !== null && lines.length === 0) throw refusal;
      return lines.join("");
    },
  };
}
