/** What the posts of presets share: from fields to a preset, and from a refusal to a word for the address. */
import type { PresetProblem } from "../../components/presets/preset-problem.ts";
import { type PresetInput, parseLabels, parsePresetInput } from "../../lib/domain/preset.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";

/** Fields that say what is kept; the person does not type them. */
export const KEPT_FIELDS = ["schematic", "version", "platform", "arch", "secureboot"] as const;

/** The preset that a form asks for. invalid_input as parsePresetInput. */
export function presetOfFields(fields: URLSearchParams): PresetInput {
  const texts = KEPT_FIELDS.flatMap((field) => {
    const value = fields.get(field) ?? "";
    return value === "" || field === "secureboot" ? [] : [[field, value] as const];
  });
  return parsePresetInput({
    ...Object.fromEntries(texts),
    name: fields.get("name") ?? "",
    labels: parseLabels(fields.get("labels") ?? ""),
    ...(fields.get("secureboot") === "true" ? { secureboot: true } : {}),
  });
}

/** The problem behind a refusal; what is not a refusal of a preset is thrown on. */
export function problemOf(error: unknown): PresetProblem {
  if (!isAppError(error) || error.status >= 500) throw error;
  const { code, extra } = error;
  const { field, secret, most } = extra.details ?? {};
  if (field === "name") return "name";
  if (typeof field === "string" && field.startsWith("labels")) return "labels";
  if (secret === true) return "secret";
  if (most !== undefined) return "many";
  return code === "conflict" ? "taken" : "unknown";
}
