/** Options of overlays whose names are known, so that they have a field of their own; the rest is written as YAML. */

import type { OptionValue } from "../schematic-types.ts";
import { emitDocument } from "../yaml/emit.ts";
import { parseOverlayOptions } from "./overlay-options-text.ts";

const KNOWN_OPTIONS = ["configTxtAppend", "configTxt"] as const;
/** configTxtAppend: lines put behind the firmware's config.txt; configTxt: the whole file. */
export type KnownOption = (typeof KNOWN_OPTIONS)[number];

const BY_IMAGE: Record<string, readonly KnownOption[]> = {
  "siderolabs/sbc-raspberrypi": KNOWN_OPTIONS,
};

/** Options that the overlays of an image understand; none for images nobody described. */
export const knownOptions = (image: string): readonly KnownOption[] =>
  Object.hasOwn(BY_IMAGE, image) ? (BY_IMAGE[image] ?? []) : [];

/** Text of an option; empty when it is not set. invalid_input when the YAML cannot be read. */
export function readOption(yaml: string, name: KnownOption): string {
  const value = parseOverlayOptions(yaml).get(name);
  return typeof value === "string" ? value : "";
}

/** The options with one text changed; an empty text takes the option out. invalid_input for unreadable YAML. */
export function writeOption(yaml: string, name: KnownOption, text: string): string {
  const options = new Map<OptionValue, OptionValue>(parseOverlayOptions(yaml));
  if (text === "") options.delete(name);
  else options.set(name, text);
  return options.size === 0 ? "" : emitDocument(options);
}
