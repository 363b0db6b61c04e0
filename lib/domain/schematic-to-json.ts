/** The parsed form of a schematic as JSON without loss: what the database keeps beside the canonical text. */
import type { OptionValue, Schematic } from "./schematic-types.ts";
import { floatText } from "./yaml/emit.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

// PostgreSQL's jsonb holds neither NUL nor half a surrogate pair; such texts travel in escaped form.
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what must be found
const NOT_STORABLE = /\u0000|[\ud800-\udfff]/u;

const toText = (text: string): JsonValue =>
  NOT_STORABLE.test(text) ? { escaped: JSON.stringify(text) } : text;

function fromOption(value: OptionValue): JsonValue {
  if (typeof value === "string") return toText(value);
  if (typeof value === "bigint") return { int: String(value) };
  if (typeof value === "number") return { float: floatText(value) };
  if (value === null || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(fromOption);
  if (value instanceof Map)
    return { map: [...value].map(([key, item]) => [fromOption(key), fromOption(item)]) };
  return { timestamp: value.timestamp };
}

/** JSON of a schematic. Integers, floats, timestamps and maps of options are tagged objects, so that none is lost. */
export function schematicToJson(schematic: Schematic): JsonValue {
  const { owner, overlay, customization } = schematic;
  const json: { [key: string]: JsonValue } = {};
  if (owner !== undefined) json.owner = toText(owner);
  if (overlay !== undefined) {
    const options =
      overlay.options && [...overlay.options].map(([key, value]) => [toText(key), fromOption(value)]);
    json.overlay = { image: toText(overlay.image), name: toText(overlay.name), ...(options && { options }) };
  }
  json.customization = customizationToJson(customization);
  return json;
}

function customizationToJson(customization: Schematic["customization"]): JsonValue {
  const { embeddedMachineConfiguration, extraKernelArgs, meta, systemExtensions } = customization;
  const { bootloader, secureboot, diskImage } = customization;
  const json: { [key: string]: JsonValue } = {};
  if (embeddedMachineConfiguration !== undefined) {
    json.embeddedMachineConfiguration = toText(embeddedMachineConfiguration);
  }
  if (extraKernelArgs !== undefined) json.extraKernelArgs = extraKernelArgs.map(toText);
  if (meta !== undefined) json.meta = meta.map(({ key, value }) => ({ key, value: toText(value) }));
  if (systemExtensions !== undefined) {
    json.systemExtensions = { officialExtensions: systemExtensions.officialExtensions.map(toText) };
  }
  if (bootloader !== undefined) json.bootloader = bootloader;
  if (secureboot !== undefined) {
    const { enrollKeys, includeWellKnownCertificates } = secureboot;
    json.secureboot = {
      ...(enrollKeys !== undefined && { enrollKeys: toText(enrollKeys) }),
      ...(includeWellKnownCertificates !== undefined && { includeWellKnownCertificates }),
    };
  }
  if (diskImage !== undefined) json.diskImage = { sectorSize: String(diskImage.sectorSize) };
  return json;
}
