/** Everything that is wrong with a choice, by the field that caused it. */
import { AppError } from "../../errors/app-error.ts";
import { findBoard } from "../boards.ts";
import { findExtension } from "../extension-lookup.ts";
import { findPlatform } from "../platforms.ts";
import type { CatalogExtension } from "../release.ts";
import {
  boardLack,
  bootloaderLack,
  embeddedConfigLack,
  type Lack,
  overlayLack,
  platformLack,
  secureBootLack,
} from "./availability.ts";
import { documentFault, readDocuments } from "./embedded-config.ts";
import { ENROLL_CHOICES, type FormState, OTHER_BOARD, SECTOR_CHOICES } from "./form-state.ts";
import { META_LIMIT, type MetaFault, metaBytes, metaFault } from "./meta-fields.ts";
import { parseOverlayOptions } from "./overlay-options-text.ts";

export type FormField =
  | "version"
  | "platform"
  | "board"
  | "secureboot"
  | "enroll-keys"
  | "extensions"
  | "bootloader"
  | "sector-size"
  | "overlay-options"
  | "meta"
  | "embedded-config";

export type FormProblem = { field: FormField; about: string } & (
  | { kind: "lack"; lack: Lack }
  /** since: the first offered release that has it, null when none does or nobody knows. */
  | { kind: "unknown"; since?: string | null }
  | { kind: "yaml"; detail: string }
  | { kind: "meta"; fault: MetaFault }
  | { kind: "document"; fault: "list" | "kind" }
);

export interface Offer {
  /** Without "v". */
  versions: readonly string[];
  /** Of the chosen version; null while it is not known. */
  extensions: readonly CatalogExtension[] | null;
  /** First offered release that has an extension, by name; without it nobody knows. */
  firstWith?: ReadonlyMap<string, string>;
}

const lacking = (field: FormField, about: string, lack: Lack | null): FormProblem[] =>
  lack === null ? [] : [{ field, about, kind: "lack", lack }];

function yamlProblem(field: FormField, about: string, read: () => FormProblem[]): FormProblem[] {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ field, about, kind: "yaml", detail: error.message }];
  }
}

function boardProblems(form: FormState): FormProblem[] {
  const board = findBoard(form.board);
  const named = form.board === OTHER_BOARD;
  if (board === null && (!named || form.overlayName.trim() === ""))
    return [{ field: "board", about: named ? "" : form.board, kind: "unknown" }];
  const lack = board === null ? overlayLack(form.version) : boardLack(board, form.version);
  return [
    ...lacking("board", board?.label ?? form.overlayName, lack),
    ...yamlProblem("overlay-options", "", () => {
      parseOverlayOptions(form.overlayOptions);
      return [];
    }),
  ];
}

function targetProblems(form: FormState): FormProblem[] {
  if (form.target === "sbc") return boardProblems(form);
  if (form.target === "metal") return [];
  const platform = findPlatform(form.platform);
  if (platform === null) return [{ field: "platform", about: form.platform, kind: "unknown" }];
  return lacking("platform", platform.label, platformLack(platform, form.version));
}

function extensionProblems(form: FormState, { extensions, firstWith }: Offer): FormProblem[] {
  if (extensions === null) return [];
  return [...new Set(form.extensions)]
    .filter((name) => findExtension(extensions, name) === null)
    .map((name) => ({
      ...{ field: "extensions", about: name, kind: "unknown" },
      since: firstWith?.get(name) ?? null,
    }));
}

function secureBootProblems(form: FormState): FormProblem[] {
  if (!form.secureboot || form.target === "sbc") return [];
  const known = ENROLL_CHOICES.some((choice) => choice === form.enrollKeys);
  return [
    ...lacking("secureboot", "", secureBootLack(form)),
    ...(known ? [] : [{ field: "enroll-keys", about: form.enrollKeys, kind: "unknown" } as const]),
  ];
}

function metaProblems({ meta }: FormState): FormProblem[] {
  const faults = meta.flatMap((field): FormProblem[] => {
    const fault = metaFault(field);
    return fault === null ? [] : [{ field: "meta", about: field.key, kind: "meta", fault }];
  });
  if (metaBytes(meta) <= META_LIMIT) return faults;
  return [...faults, { field: "meta", about: String(META_LIMIT), kind: "meta", fault: "size" }];
}

function embeddedProblems(form: FormState): FormProblem[] {
  if (form.embeddedConfig.trim() === "") return [];
  const lack = lacking("embedded-config", "", embeddedConfigLack(form.version));
  if (lack.length > 0) return lack;
  return yamlProblem("embedded-config", "", () => {
    const wrong = documentFault(readDocuments(form.embeddedConfig));
    if (wrong === null) return [];
    const about = String(wrong.document);
    return [{ field: "embedded-config", about, kind: "document", fault: wrong.fault }];
  });
}

/** All problems of a choice, in the order of the fields. Empty: it can be created. */
export function formProblems(form: FormState, offer: Offer): FormProblem[] {
  const known = offer.versions.includes(form.version);
  const sector = SECTOR_CHOICES.some((choice) => choice === form.sectorSize.trim());
  return [
    ...targetProblems(form),
    ...(known ? [] : [{ field: "version", about: form.version, kind: "unknown" } as const]),
    ...secureBootProblems(form),
    ...(known ? extensionProblems(form, offer) : []),
    ...lacking("bootloader", form.bootloader, bootloaderLack(form, form.bootloader)),
    ...(sector ? [] : [{ field: "sector-size", about: form.sectorSize, kind: "unknown" } as const]),
    ...metaProblems(form),
    ...embeddedProblems(form),
  ];
}
