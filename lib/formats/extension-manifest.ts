/** manifest.yaml of a system extension, and extensions.yaml that lists them in the initramfs. */
import { parseDocument, stringify } from "yaml";
import { z } from "zod";
import type { OptionValue } from "../domain/schematic-types.ts";
import { emitDocument } from "../domain/yaml/emit.ts";
import { invalidInput } from "../errors/app-error.ts";

const text = z
  .union([z.string(), z.number(), z.boolean(), z.null()])
  .transform((value) => (value === null ? "" : String(value)));

const metadataSchema = z.object({
  name: text.default(""),
  version: text.default(""),
  author: text.default(""),
  description: text.default(""),
  compatibility: z
    .object({ talos: z.object({ version: text.default("") }).nullish() })
    .nullish()
    .transform((value) => ({ talos: { version: value?.talos?.version ?? "" } })),
  extraInfo: text.optional(),
});

const manifestSchema = z.object({ version: text.default(""), metadata: metadataSchema.prefault({}) });

/** What an extension says about itself. */
export interface ExtensionMetadata {
  name: string;
  version: string;
  author: string;
  description: string;
  /** Range of releases it fits; empty for every release. */
  compatibility: { talos: { version: string } };
  extraInfo?: string;
}

const SUPPORTED = "v1alpha1";
const YAML_STYLE = { indent: 4, lineWidth: 0, version: "1.1" } as const;

/** Reads manifest.yaml. invalid_input when it is no YAML mapping or not of version v1alpha1. */
export function parseExtensionManifest(source: string): ExtensionMetadata {
  // "failsafe" keeps every scalar the text that stands there: 20250812 and 1.10 are versions, not numbers.
  const document = parseDocument(source, { schema: "failsafe", uniqueKeys: true });
  if (document.errors.length > 0) {
    throw invalidInput("manifest.yaml of the extension is not valid YAML", {
      details: { reason: document.errors[0]?.message },
    });
  }
  const parsed = manifestSchema.safeParse(document.toJS({ maxAliasCount: 50 }) ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidInput(`manifest.yaml of the extension is wrong at ${issue?.path.join(".") || "the top"}`, {
      details: { reason: issue?.message },
    });
  }
  if (parsed.data.version !== SUPPORTED) {
    throw invalidInput(`unsupported manifest version: ${JSON.stringify(parsed.data.version)}`, {
      hint: `manifest.yaml must say "version: ${SUPPORTED}".`,
    });
  }
  const { extraInfo, ...rest } = parsed.data.metadata;
  return extraInfo === undefined || extraInfo === "" ? rest : { ...rest, extraInfo };
}

/** Text of the manifest.yaml that says this. */
export const extensionManifest = (metadata: ExtensionMetadata): string =>
  stringify({ version: SUPPORTED, metadata: orderedMetadata(metadata) }, YAML_STYLE);

/** Column beyond which lines of extensions.yaml are folded. */
const FOLD_AT = 80;

/** Text of extensions.yaml for the layers, lowest first. Scalars are quoted wherever any YAML version could misread them. */
export function extensionsYaml(layers: { image: string; metadata: ExtensionMetadata }[]): string {
  const rows = layers.map(({ image, metadata }) => mapOf({ image, metadata: orderedMetadata(metadata) }));
  return emitDocument(new Map([["layers", rows]]), FOLD_AT);
}

const mapOf = (record: object): Map<OptionValue, OptionValue> =>
  new Map(
    Object.entries(record).map(([key, value]) => [
      key,
      typeof value === "object" ? mapOf(value) : String(value),
    ]),
  );

function orderedMetadata(metadata: ExtensionMetadata): ExtensionMetadata {
  const { name, version, author, description, compatibility, extraInfo } = metadata;
  const base = {
    name,
    version,
    author,
    description,
    compatibility: { talos: { version: compatibility.talos.version } },
  };
  return extraInfo === undefined || extraInfo === "" ? base : { ...base, extraInfo };
}
