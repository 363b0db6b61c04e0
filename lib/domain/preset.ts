/** Presets: a choice that somebody keeps under a name, and the document it travels in. */
import { isMap, parseDocument, stringify } from "yaml";
import { z } from "zod";
import { invalidInput } from "../errors/app-error.ts";
import { ARCHES } from "./asset.ts";
import type { Schematic } from "./schematic-types.ts";

const MOST_LABELS = 20;
const LABEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const LABEL_VALUE = /^[\p{L}\p{N}._/ -]{0,63}$/u;

const labelsSchema = z
  .record(z.string().regex(LABEL_NAME), z.string().regex(LABEL_VALUE))
  .refine((labels) => Object.keys(labels).length <= MOST_LABELS, `at most ${MOST_LABELS} labels`);

/** What a schematic does not say about the machine. Left out: whoever opens the preset chooses. */
export const presetTargetSchema = z.object({
  version: z
    .string()
    .regex(/^v\d+\.\d+\.\d+[0-9A-Za-z.-]{0,40}$/)
    .exactOptional(),
  platform: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .exactOptional(),
  arch: z.enum(ARCHES).exactOptional(),
  secureboot: z.boolean().exactOptional(),
});

const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(80)
  // Control characters and marks that turn text around would make one name look like another.
  .regex(/^[^\p{C}]+$/u);

export const presetInputSchema = presetTargetSchema
  .extend({ name: nameSchema, labels: labelsSchema.prefault({}), schematic: z.string().length(64) })
  .strict();

export type PresetTarget = z.infer<typeof presetTargetSchema>;
/** What somebody asks to be kept; `schematic` is the ID of one that is stored. */
export type PresetInput = z.infer<typeof presetInputSchema>;

export interface Preset {
  id: string;
  name: string;
  labels: Record<string, string>;
  schematicId: string;
  target: PresetTarget;
  createdAt: Date;
  updatedAt: Date;
}

/** What somebody sent, checked. invalid_input naming the field. */
export function parsePresetInput(value: unknown): PresetInput {
  const parsed = presetInputSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || "preset";
  throw invalidInput(`The preset is wrong at ${field}: ${issue?.message}`, {
    hint: "A name of at most 80 characters, labels like env=lab, the ID of a stored schematic; version, platform, arch and secureboot may be left out.",
    details: { field },
  });
}

/** Labels as people write them in one line: `env=lab, proxmox`. Parts without "=" have an empty value. */
export function parseLabels(text: string): Record<string, string> {
  const parts = text.split(",").map((part) => part.trim());
  const pairs = parts
    .filter((part) => part !== "")
    .map((part) => {
      const [name = "", ...rest] = part.split("=");
      return [name.trim(), rest.join("=").trim()] as const;
    });
  return Object.fromEntries(pairs);
}

/** The line for labels; the inverse of parseLabels. */
export const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => (value === "" ? name : `${name}=${value}`))
    .join(", ");

/** The first free name of "<name> 2", "<name> 3", …; `taken` holds names in lower case. */
export function copyName(name: string, taken: ReadonlySet<string>): string {
  const numbered = (number: number): string => `${name.slice(0, 74)} ${number}`;
  let number = 2;
  while (taken.has(numbered(number).toLowerCase())) number += 1;
  return numbered(number);
}

/** The document of a preset: everything needed to make it again elsewhere, the schematic's text included. */
export function presetDocument(preset: Preset, canonical: string): string {
  const { name, labels, target } = preset;
  return stringify({ name, labels, ...target, schematic: canonical }, { lineWidth: 0 });
}

const documentSchema = presetInputSchema.extend({ schematic: z.string().min(1) });

/** Reads such a document: the text of its schematic, and the rest. invalid_input when it is none. */
export function parsePresetDocument(text: string): {
  rest: Omit<PresetInput, "schematic">;
  schematic: string;
} {
  const document = parseDocument(text);
  const shape = document.errors.length === 0 && isMap(document.contents);
  const parsed = documentSchema.safeParse(shape ? document.toJS({ maxAliasCount: 0 }) : null);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidInput(
      `This is not the document of a preset: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
      {
        hint: "Use a document that GET /api/v1/presets/<id>/export gave.",
      },
    );
  }
  const { schematic, ...rest } = parsed.data;
  return { rest, schematic };
}

/** False for a schematic that carries a machine configuration: presets are seen by everybody, and it may hold secrets. */
export const mayBecomePreset = ({ customization }: Schematic): boolean =>
  (customization.embeddedMachineConfiguration ?? "") === "";

/** The query that opens pages of the schematic for this machine. */
export function presetQuery({ target }: Pick<Preset, "target">): URLSearchParams {
  const { secureboot, ...texts } = target;
  return new URLSearchParams({ ...texts, ...(secureboot === true ? { secureboot: "true" } : {}) });
}
