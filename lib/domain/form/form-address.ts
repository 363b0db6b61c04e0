/** The form as the query of an address, both ways. Secrets never go into it; an opened schematic is named by its ID. */
import { ARCHES } from "../asset.ts";
import type { Schematic } from "../schematic-types.ts";
import { isDefaultOrder, orderExtensions, sortedNames } from "./extension-order.ts";
import { type FormPart, isSamePart, shownForm } from "./form-schematic.ts";
import {
  BOOTLOADER_CHOICES,
  type FormState,
  initialForm,
  OTHER_BOARD,
  plainLines,
  plainVersion,
  TARGETS,
} from "./form-state.ts";
import { type MetaField, mayBeSecret } from "./meta-fields.ts";

/** The stored schematic that a form was opened from. */
export interface Opened {
  id: string;
  schematic: Schematic;
}

/** Characters of a query that every server and browser on the way takes. */
export const LONGEST_QUERY = 6_000;

const member = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((item) => item === text);

const isTrue = (text: string | undefined): boolean => ["true", "on", "1"].includes(text ?? "");

/** The form before anything of an address is read: the opened schematic's, else the empty one. */
export const startForm = (version: string, opened: Opened | null): FormState =>
  opened === null ? initialForm(version) : shownForm(opened.schematic, initialForm(version));

function readExtensions(query: URLSearchParams, start: string[]): string[] {
  if (!query.has("extensions")) return start;
  const names = (key: string) => query.getAll(key).map(plainLines);
  const chosen = names("extensions").filter((name) => name !== "" && name !== "-");
  return orderExtensions(sortedNames(chosen), names("order"));
}

/** `meta=0xa=…` of an address, or the pairs `meta-key`, `meta-value` of a posted form; rows without a key do not count. */
function readMeta(query: URLSearchParams, start: MetaField[]): MetaField[] {
  if (query.has("meta-key")) {
    const values = query.getAll("meta-value");
    return query
      .getAll("meta-key")
      .map((key, index) => ({ key: key.trim(), value: plainLines(values[index] ?? "") }))
      .filter(({ key }) => key !== "");
  }
  if (!query.has("meta")) return start;
  return query
    .getAll("meta")
    .filter((text) => text.includes("="))
    .map((text) => {
      const at = text.indexOf("=");
      return { key: text.slice(0, at), value: plainLines(text.slice(at + 1)) };
    });
}

/**
 * Reads a query. What is missing is as in the opened schematic or at its default, so is a word the form does not know;
 * names of platforms, boards, versions and extensions are kept as written, so that the form can say what is wrong with
 * them.
 */
export function readForm(
  query: URLSearchParams,
  newestVersion: string,
  opened: Opened | null = null,
): FormState {
  const start = startForm(newestVersion, opened);
  const text = (name: string, fallback: string) => query.get(name)?.trim() || fallback;
  const free = (name: string, fallback: string) => plainLines(query.get(name) ?? fallback);
  return {
    target: member(TARGETS, query.get("target")) ?? start.target,
    version: plainVersion(text("version", start.version)),
    arch: member(ARCHES, query.get("arch")) ?? start.arch,
    platform: query.get("target") === "cloud" ? text("platform", start.platform) : start.platform,
    board: text("board", start.board),
    overlayName: free("overlay-name", start.overlayName),
    overlayImage: free("overlay-image", start.overlayImage),
    secureboot: isTrue(query.get("secureboot") ?? undefined),
    enrollKeys: free("enroll-keys", start.enrollKeys),
    // A box that is not ticked sends nothing, so the form sends "false" before it.
    wellKnownCertificates: query.has("well-known")
      ? isTrue(query.getAll("well-known").at(-1))
      : start.wellKnownCertificates,
    extensions: readExtensions(query, start.extensions),
    cmdline: free("cmdline", start.cmdline).trim(),
    bootloader: member(BOOTLOADER_CHOICES, query.get("bootloader")) ?? start.bootloader,
    sectorSize: free("sector-size", start.sectorSize).trim(),
    overlayOptions: free("overlay-options", start.overlayOptions),
    meta: readMeta(query, start.meta),
    embeddedConfig: start.embeddedConfig,
  };
}

function writeMachine(query: URLSearchParams, form: FormState): void {
  if (form.target === "cloud") query.set("platform", form.platform);
  if (form.target === "sbc") query.set("board", form.board);
  if (form.target === "sbc" && form.board === OTHER_BOARD) {
    query.set("overlay-name", form.overlayName);
    query.set("overlay-image", form.overlayImage);
  }
  if (form.secureboot) query.set("secureboot", "true");
}

function writeExtensions(query: URLSearchParams, { extensions }: FormState): void {
  if (extensions.length === 0) query.append("extensions", "-");
  for (const name of sortedNames(extensions)) query.append("extensions", name);
  if (!isDefaultOrder(extensions)) for (const name of extensions) query.append("order", name);
}

function writeMeta(query: URLSearchParams, { meta }: FormState): void {
  if (meta.some(mayBeSecret)) return;
  if (meta.length === 0) query.append("meta", "");
  for (const { key, value } of meta) query.append("meta", `${key}=${value}`);
}

/** Parts of a form that are never written, or not always. */
export const keptOutOfAddress = (form: FormState): FormPart[] => [
  "embeddedMachineConfiguration",
  ...(form.meta.some(mayBeSecret) ? (["meta"] as const) : []),
];

/** The query that readForm turns back into this settled choice, keys in a fixed order; what is as at the start is left out. */
export function writeForm(form: FormState, opened: Opened | null = null): URLSearchParams {
  const query = new URLSearchParams(opened === null ? {} : { from: opened.id });
  for (const name of ["target", "version", "arch"] as const) query.set(name, form[name]);
  writeMachine(query, form);
  const start = startForm(form.version, opened);
  const differs = (part: FormPart) => !isSamePart(part, form, start);
  if (differs("secureboot")) {
    query.set("enroll-keys", form.enrollKeys);
    query.set("well-known", String(form.wellKnownCertificates));
  }
  if (differs("systemExtensions")) writeExtensions(query, form);
  if (differs("extraKernelArgs")) query.set("cmdline", form.cmdline);
  if (differs("bootloader")) query.set("bootloader", form.bootloader);
  if (differs("diskImage")) query.set("sector-size", form.sectorSize);
  if (form.target === "sbc" && form.overlayOptions !== start.overlayOptions)
    query.set("overlay-options", form.overlayOptions);
  if (differs("meta")) writeMeta(query, form);
  return query;
}
