/** Everything that is wrong with a choice, by the field that caused it. */
import { AppError } from "../../errors/app-error.ts";
import { findBoard } from "../boards.ts";
import { findExtension } from "../extension-lookup.ts";
import { findPlatform } from "../platforms.ts";
import type { CatalogExtension } from "../release.ts";
import { parseDocument } from "../yaml/parser.ts";
import {
  boardLack,
  bootloaderLack,
  embeddedConfigLack,
  type Lack,
  platformLack,
  secureBootLack,
} from "./availability.ts";
import type { FormState } from "./form-state.ts";
import { parseOverlayOptions } from "./overlay-options-text.ts";

export type FormField =
  | "version"
  | "platform"
  | "board"
  | "secureboot"
  | "extensions"
  | "bootloader"
  | "overlay-options"
  | "embedded-config";

export type FormProblem = { field: FormField; about: string } & (
  | { kind: "lack"; lack: Lack }
  | { kind: "unknown" }
  | { kind: "yaml"; detail: string }
);

export interface Offer {
  /** Without "v". */
  versions: readonly string[];
  /** Of the chosen version; null while it is not known. */
  extensions: readonly CatalogExtension[] | null;
}

const lacking = (field: FormField, about: string, lack: Lack | null): FormProblem[] =>
  lack === null ? [] : [{ field, about, kind: "lack", lack }];

function yamlProblem(field: FormField, about: string, read: () => void): FormProblem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ field, about, kind: "yaml", detail: error.message }];
  }
}

/** Throws invalid_input for a text that is no stream of YAML documents. Only the form of the text is checked. */
function readDocuments(text: string): void {
  for (const document of text.replace(/\r\n?/g, "\n").split(/^---(?=\s|$)/m)) parseDocument(document);
}

function targetProblems(form: FormState): FormProblem[] {
  if (form.target === "cloud") {
    const platform = findPlatform(form.platform);
    if (platform === null) return [{ field: "platform", about: form.platform, kind: "unknown" }];
    return lacking("platform", platform.label, platformLack(platform, form.version));
  }
  if (form.target === "metal") return [];
  const board = findBoard(form.board);
  if (board === null) return [{ field: "board", about: form.board, kind: "unknown" }];
  return [
    ...lacking("board", board.label, boardLack(board, form.version)),
    ...yamlProblem("overlay-options", "", () => parseOverlayOptions(form.overlayOptions)),
  ];
}

function extensionProblems(form: FormState, catalog: Offer["extensions"]): FormProblem[] {
  if (catalog === null) return [];
  return form.extensions
    .filter((name) => findExtension(catalog, name) === null)
    .map((name) => ({ field: "extensions", about: name, kind: "unknown" }));
}

function embeddedProblems(form: FormState): FormProblem[] {
  if (form.embeddedConfig.trim() === "") return [];
  const lack = lacking("embedded-config", "", embeddedConfigLack(form.version));
  return lack.length > 0
    ? lack
    : yamlProblem("embedded-config", "", () => readDocuments(form.embeddedConfig));
}

/** All problems of a choice, in the order of the fields. Empty: it can be created. */
export function formProblems(form: FormState, offer: Offer): FormProblem[] {
  const known = offer.versions.includes(form.version);
  return [
    ...targetProblems(form),
    ...(known ? [] : [{ field: "version", about: form.version, kind: "unknown" } as const]),
    ...(form.secureboot && form.target !== "sbc" ? lacking("secureboot", "", secureBootLack(form)) : []),
    ...(known ? extensionProblems(form, offer.extensions) : []),
    ...lacking("bootloader", form.bootloader, bootloaderLack(form, form.bootloader)),
    ...embeddedProblems(form),
  ];
}
