/** From a schematic, a version and a file name to the plan that the service would make. */
import { readFile } from "node:fs/promises";
import { canonicalSchematic } from "../lib/domain/schematic-canonical.ts";
import { idOfText, isSchematicId } from "../lib/domain/schematic-id.ts";
import { parseSchematic } from "../lib/domain/schematic-parse.ts";
import { AppError, notFound } from "../lib/errors/app-error.ts";
import { readInstalledGrub } from "../lib/imager/grub-modules.ts";
import { planAsset } from "../lib/imager/plan.ts";
import type { BuildPlan } from "../lib/imager/types.ts";
import type { SecureBootKeys } from "../lib/keys/types.ts";
import { createAssetResolving } from "../lib/services/assets/asset-resolving.ts";
import type { StoredSchematic } from "../lib/services/contracts.ts";
import { createOverlayProfiles } from "../lib/services/inputs/overlay-profiles.ts";
import { lookAtTags, readRelease } from "../lib/services/releases/reading.ts";
import type { ImageShelf } from "./image-shelf.ts";
import type { CommandSettings } from "./settings.ts";

const EMPTY = "customization: {}\n";

/** The schematic in a file. invalid_input with the place of what is wrong. */
export async function readSchematic(file: string): Promise<StoredSchematic> {
  return storedSchematic(await readFile(file, "utf8"));
}

function storedSchematic(text: string): StoredSchematic {
  const schematic = parseSchematic(text);
  const canonical = canonicalSchematic(schematic);
  return { id: idOfText(canonical), canonical, schematic };
}

/** The schematic of a file, or of an ID: the empty one is known, others are asked of the factory at `externalUrl`. */
export async function findSchematic(fileOrId: string, externalUrl: string): Promise<StoredSchematic> {
  if (!isSchematicId(fileOrId)) return readSchematic(fileOrId);
  const empty = storedSchematic(EMPTY);
  if (empty.id === fileOrId) return empty;
  const hint =
    "Give the schematic's file instead, or the address of a factory that knows it by --external-url.";
  const response = await fetch(new URL(`/schematics/${fileOrId}`, externalUrl)).catch((cause: unknown) => {
    throw new AppError("upstream_unavailable", `no factory answers at ${externalUrl}`, { hint, cause });
  });
  if (!response.ok) throw notFound(`the factory at ${externalUrl} has no schematic ${fileOrId}`, { hint });
  const found = storedSchematic(await response.text());
  if (found.id === fileOrId) return found;
  throw new AppError("source_invalid", `the factory at ${externalUrl} sent another schematic`);
}

/** The plan of one file of a schematic, the same as the service's for equal sources and address. */
export async function planOfSchematic(
  request: { schematic: StoredSchematic; version: string; path: string },
  shelf: ImageShelf,
  settings: CommandSettings,
  keys: SecureBootKeys | null,
): Promise<BuildPlan> {
  const { registry, publicName } = settings.source;
  const context = { images: shelf.source, registry, publicName };
  const resolveAsset = createAssetResolving({
    schematics: { find: () => Promise.resolve(request.schematic) },
    releases: {
      async require(version) {
        const look = await lookAtTags(context, version);
        if (look.ok) return readRelease(context, version, look.inputs);
        throw notFound(
          `version ${version} is not complete in ${registry}: ${look.missing.join(", ")} missing`,
        );
      },
    },
    planAsset,
    externalUrl: settings.externalUrl,
    overlayProfiles: createOverlayProfiles(shelf.source),
    installedGrub: await readInstalledGrub(),
    signing: keys?.identity ?? null,
  });
  const { version, path, schematic } = request;
  return (await resolveAsset({ schematicId: schematic.id, version, path })).plan;
}
