/** What is unusual about a choice that can be created all the same. */
import { AppError } from "../../errors/app-error.ts";
import { quirks } from "../quirks.ts";
import type { CatalogExtension } from "../release.ts";
import { readDocuments, secretPaths } from "./embedded-config.ts";
import { type Conflict, extensionConflicts } from "./extension-conflicts.ts";
import type { FormState } from "./form-state.ts";
import { isManagedKey, type MetaField, metaKey } from "./meta-fields.ts";

export type FormWarning =
  | { kind: "conflict"; conflict: Conflict }
  /** Values that look like secrets are in the machine configuration. */
  | { kind: "secrets"; paths: string[] }
  /** The node writes this key itself; it cannot be stored on a disk; it cannot go over the kernel command line. */
  | { kind: "meta-managed" | "meta-disk" | "meta-separator" | "meta-repeated"; key: string }
  /** Enrolment and certificates are set, SecureBoot is not. */
  | { kind: "secureboot-unused" }
  /** Installers of the version take no kernel arguments. */
  | { kind: "arguments-installer" };

function metaWarnings({ key, value }: MetaField, index: number, all: readonly MetaField[]): FormWarning[] {
  const number = metaKey(key);
  const repeated = all.slice(0, index).some((other) => number !== null && metaKey(other.key) === number);
  return [
    ...(isManagedKey(key) ? [{ kind: "meta-managed", key } as const] : []),
    ...(number === 0 ? [{ kind: "meta-disk", key } as const] : []),
    ...(value.includes(";") ? [{ kind: "meta-separator", key } as const] : []),
    ...(repeated ? [{ kind: "meta-repeated", key } as const] : []),
  ];
}

/** The warning about what looks like secrets in a machine configuration; none for a text that cannot be read. */
export function secretWarnings(text: string): FormWarning[] {
  if (text.trim() === "") return [];
  try {
    const paths = secretPaths(readDocuments(text));
    return paths.length === 0 ? [] : [{ kind: "secrets", paths }];
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

/** All warnings of a choice, in the order of the form. */
export function formWarnings(form: FormState, catalog: readonly CatalogExtension[] | null): FormWarning[] {
  const enrols = form.enrollKeys !== "" || form.wellKnownCertificates;
  const signed = form.secureboot && form.target !== "sbc";
  const ignored = form.cmdline.trim() !== "" && !signed && !quirks(form.version).unifiedInstaller;
  return [
    ...(enrols && !signed ? [{ kind: "secureboot-unused" } as const] : []),
    ...extensionConflicts(form.extensions, catalog).map(
      (conflict) => ({ kind: "conflict", conflict }) as const,
    ),
    ...(ignored ? [{ kind: "arguments-installer" } as const] : []),
    ...form.meta.flatMap(metaWarnings),
    ...secretWarnings(form.embeddedConfig),
  ];
}
