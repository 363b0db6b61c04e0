/** The parsed form of a schematic back from the JSON that schematicToJson wrote. */
import { z } from "zod";
import { AppError } from "../errors/app-error.ts";
import type { OptionValue, Schematic } from "./schematic-types.ts";

/** Text inside an escaped text: a JSON string literal. */
function unescaped(escaped: string, context: z.core.$RefinementCtx): string {
  try {
    return z.string().parse(JSON.parse(escaped));
  } catch {
    context.addIssue("not an escaped text");
    return z.NEVER;
  }
}

const textSchema = z.union([
  z.string(),
  z.strictObject({ escaped: z.string() }).transform(({ escaped }, context) => unescaped(escaped, context)),
]);

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
