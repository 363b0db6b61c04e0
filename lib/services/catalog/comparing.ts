/** Compares two schematics, two releases, or both at once. */
import { settleSides } from "../../domain/compare-side.ts";
import { downloadsFor } from "../../domain/form/downloads.ts";
import { plainVersion } from "../../domain/form/form-state.ts";
import { type MachineTarget, machineFor } from "../../domain/machine-target.ts";
import type { Release } from "../../domain/release.ts";
import { diffCatalogs } from "../../domain/release-diff.ts";
import { diffSchematics } from "../../domain/schematic-diff.ts";
import type { Schematic } from "../../domain/schematic-types.ts";
import { AppError } from "../../errors/app-error.ts";
import type { AssetService, ReleaseService, SchematicService } from "../contracts.ts";
import { requireSchematic } from "../locks/model-inputs.ts";
import { requireNewestVersion } from "../releases/newest-version.ts";
import type { ComparedFile, CompareService } from "./contracts.ts";

export interface CompareOptions {
  schematics: SchematicService;
  releases: ReleaseService;
  assets: Pick<AssetService, "resolve" | "findReady">;
}

interface Side {
  id: string | null;
  schematic: Schematic;
  release: Release;
}

/** The service; builds nothing. */
export function createCompareService({ schematics, releases, assets }: CompareOptions): CompareService {
  async function open({ id, version }: { id: string | null; version: string }): Promise<Side> {
    const schematic =
      id === null ? { customization: {} } : (await requireSchematic(schematics, id)).schematic;
    return { id, schematic, release: await releases.require(version) };
  }

  /** Bytes of the files that are ready, by path. */
  async function readySizes({ id, schematic, release }: Side, wanted: MachineTarget) {
    const sizes = new Map<string, number>();
    if (id === null) return sizes;
    const target = machineFor(schematic, wanted);
    const board = schematic.overlay !== undefined;
    const { first, others } = downloadsFor({ ...target, board, version: plainVersion(release.version) });
    const look = async (path: string): Promise<void> => {
      const size = await readySize(assets, { schematicId: id, version: release.version, path });
      if (size !== null) sizes.set(path, size);
    };
    await Promise.all([...first, ...others].map((file) => look(file.path)));
    return sizes;
  }

  return {
    async compare(sides, target, secret) {
      const newest = await requireNewestVersion(releases);
      const [a, b] = settleSides(sides.before, sides.after, newest);
      const [before, after] = [await open(a), await open(b)];
      const [old, fresh] = await Promise.all([readySizes(before, target), readySizes(after, target)]);
      const paths = [...new Set([...old.keys(), ...fresh.keys()])].sort();
      const about = ({ id, release }: Side) => ({ id, version: release.version, sample: release.sample });
      const machine = machineFor(after.schematic, target);
      return {
        ...{ before: about(before), after: about(after), target: machine },
        diff: diffSchematics(before, after, machine, secret),
        catalogs: diffCatalogs(before.release, after.release),
        files: paths.map(
          (path): ComparedFile => ({ path, before: old.get(path) ?? null, after: fresh.get(path) ?? null }),
        ),
      };
    },
  };
}

async function readySize(
  assets: CompareOptions["assets"],
  request: { schematicId: string; version: string; path: string },
): Promise<number | null> {
  try {
    const { assetKey } = await assets.resolve(request);
    return (await assets.findReady(assetKey))?.sizeBytes ?? null;
  } catch (error) {
    // A file that this side cannot have is no failure of the comparison.
    if (error instanceof AppError && error.status < 500) return null;
    throw error;
  }
}
