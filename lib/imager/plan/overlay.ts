/** Adds what a board overlay contributes: the answer of its program to "get-options", and what "install" does to a disk. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { OptionValue } from "../../domain/schematic-types.ts";
import { emitDocument } from "../../domain/yaml/emit.ts";
import type { PlanBuilder } from "./builder.ts";

type Overlay = NonNullable<Recipe["overlay"]>;

/** Overlay options as the YAML document an overlay's program reads; "{}" for none, as it cannot read nothing. */
export function overlayOptionsText(options: Record<string, unknown>): string {
  return Object.keys(options).length === 0 ? "{}\n" : emitDocument(optionMap(options));
}

function optionMap(record: object): Map<OptionValue, OptionValue> {
  return new Map(Object.entries(record).map(([key, value]) => [key, optionValue(value)]));
}

/** Recipes carry options as plain data; whole numbers are written without an exponent. */
function optionValue(value: unknown): OptionValue {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(optionValue);
  return typeof value === "object" ? optionMap(value) : String(value);
}

/** The overlay's tree for the machine that builds: its program has to run there. */
const addOverlayImage = (b: PlanBuilder, { entry }: Overlay): string =>
  b.imageTree({ id: "board-image", repository: entry.image, digest: entry.digest, arch: "host" });

/** Adds the step that asks the overlay for kernel arguments and disk layout; gives its id. */
export function addOverlayOptions(b: PlanBuilder, overlay: Overlay): string {
  const { name } = overlay.entry;
  return b.step({
    id: "board-options",
    op: "overlay-options",
    phase: "fetch",
    title: `Ask the overlay ${name} for its kernel arguments and disk layout`,
    params: { name, options: overlayOptionsText(overlay.options) },
    needs: [addOverlayImage(b, overlay)],
    part: true,
  });
}

/** Adds the step in which the overlay writes its boot loader and files; `diskBytes` is the size of the whole disk. */
export function addOverlayInstall(b: PlanBuilder, overlay: Overlay, diskBytes: number): string {
  const { name } = overlay.entry;
  return b.step({
    id: "board-files",
    op: "overlay-install",
    phase: "bootloader",
    title: `Let the overlay ${name} install its boot loader and files`,
    params: { name, options: overlayOptionsText(overlay.options), diskBytes },
    needs: [addOverlayImage(b, overlay)],
    part: false,
  });
}
