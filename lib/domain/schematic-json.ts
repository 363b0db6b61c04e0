/** The parsed form of a schematic as JSON and back, without loss: what the database keeps beside the canonical text. */
import { z } from "zod";
import { AppError } from "../errors/app-error.ts";
import type { OptionValue, Schematic } from "./schematic-types.ts";
import { floatText } from "./yaml/emit.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

// PostgreSQL's jsonb holds neither NUL nor half a surrogate pair; such texts travel in escaped form.
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what must be found
const NOT_STORABLE = /\u0000|[\ud800-\udfff]/u;

const textSchema = z.union([
  z.string(),
  z.strictObject({ escaped: z.string() }).transform(({ escaped }) => z.string().parse(JSON.parse(escaped))),
]);

const toText = (text: string): JsonValue =>
  NOT_STORABLE.test(text) ? { escaped: JSON.stringify(text) } : text;

const integerSchema = z.string().regex(/^-?[0-9]{1,20}$/);
const timestampSchema = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/);
const floatSchema = z.string().regex(/^(?:\.nan|-?\.inf|-?[0-9.]+(?:e[-+][0-9]+)?)$/);

function toFloat(text: string): number {
  if (text === ".nan") return Number.NaN;
  if (text.endsWith(".inf"))
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

const optionSchema: z.ZodType<OptionValue> = z.lazy(() =>
  z.union([
    z.null(),
    z.boolean(),
    textSchema,
    z.strictObject({ int: integerSchema }).transform(({ int }) => BigInt(int)),
    z.strictObject({ float: floatSchema }).transform(({ float }) => toFloat(float)),
    z.strictObject({ timestamp: timestampSchema }),
    z.array(optionSchema),
    z
      .strictObject({ map: z.array(z.tuple([optionSchema, optionSchema])) })
      .transform(({ map }) => new Map(map)),
  ]),
);

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

const schematicJsonSchema = z.strictObject({
  owner: textSchema.exactOptional(),
  overlay: z
    .strictObject({
      image: textSchema,
      name: textSchema,
      options: z.array(z.tuple([textSchema, optionSchema])).exactOptional(),
    })
    .exactOptional(),
  customization: z.strictObject({
    embeddedMachineConfiguration: textSchema.exactOptional(),
    extraKernelArgs: z.array(textSchema).exactOptional(),
    meta: z.array(z.strictObject({ key: z.int().min(0).max(255), value: textSchema })).exactOptional(),
    systemExtensions: z.strictObject({ officialExtensions: z.array(textSchema) }).exactOptional(),
    bootloader: z.enum(["dual-boot", "sd-boot", "grub"]).exactOptional(),
    secureboot: z
      .strictObject({
        enrollKeys: textSchema.exactOptional(),
        includeWellKnownCertificates: z.boolean().exactOptional(),
      })
      .exactOptional(),
    diskImage: z.strictObject({ sectorSize: integerSchema }).exactOptional(),
  }),
});

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

/** The schematic that schematicToJson wrote. Errors: internal when the value has another shape. */
export function schematicFromJson(json: unknown): Schematic {
  const parsed = schematicJsonSchema.safeParse(json);
  if (!parsed.success) {
    throw new AppError("internal", "a stored schematic does not have the form this version reads", {
      retryable: false,
      cause: parsed.error,
    });
  }
  const { overlay, customization, ...rest } = parsed.data;
  const { diskImage, ...others } = customization;
  return {
    ...rest,
    ...(overlay && { overlay: withOptions(overlay) }),
    customization: {
      ...others,
      ...(diskImage && { diskImage: { sectorSize: BigInt(diskImage.sectorSize) } }),
    },
  };
}

function withOptions(overlay: {
  image: string;
  name: string;
  options?: [string, OptionValue][];
}): NonNullable<Schematic["overlay"]> {
  const { image, name, options } = overlay;
  return options === undefined ? { image, name } : { image, name, options: new Map(options) };
}
