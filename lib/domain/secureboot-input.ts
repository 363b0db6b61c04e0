/** Ready-made Secure Boot databases in a profile: all three or none. */
import { invalidInput } from "../errors/app-error.ts";

const FIELDS = ["platformKeyPath", "keyExchangeKeyPath", "signatureKeyPath"] as const;
type Field = (typeof FIELDS)[number];
export type DatabasePaths = Record<Field, string>;

/** The three paths, null when none is given. invalid_input names the fields that are missing beside a given one. */
export function databasePaths(input: Partial<Record<Field, string>>): DatabasePaths | null {
  const { platformKeyPath, keyExchangeKeyPath, signatureKeyPath } = input;
  if (platformKeyPath && keyExchangeKeyPath && signatureKeyPath)
    return { platformKeyPath, keyExchangeKeyPath, signatureKeyPath };
  const missing = FIELDS.filter((field) => !input[field]);
  if (missing.length === FIELDS.length) return null;
  throw invalidInput(
    `ready-made SecureBoot databases need all of their files: ${missing.join(" and ")} missing`,
    {
      hint: `Give ${FIELDS.join(", ")}, or none of them.`,
    },
  );
}
