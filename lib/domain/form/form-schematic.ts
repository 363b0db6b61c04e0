/** From the form to the schematic it describes, and back: what was opened and not touched stays as it was, byte for byte. */

import { invalidInput } from "../../errors/app-error.ts";
import { findBoard, findBoardByOverlay } from "../boards.ts";
import { canonicalOptions } from "../schematic-canonical.ts";
import type { Schematic } from "../schematic-types.ts";
import { emitDocument } from "../yaml/emit.ts";
import { joinArguments, splitArguments } from "./argument-text.ts";
import { type FormState, OTHER_BOARD, plainLines, settleForm } from "./form-state.ts";
import { metaFields, metaValues } from "./meta-fields.ts";
import { parseOverlayOptions } from "./overlay-options-text.ts";

type Overlay = NonNullable<Schematic["overlay"]>;
type Customization = Schematic["customization"];

/** Name and image of the overlay that a form asks for; null without one. An unknown board has none. */
export function overlayOf(form: FormState): { name: string; image: string } | null {
  if (form.target !== "sbc") return null;
  if (form.board === OTHER_BOARD) return { name: form.overlayName, image: form.overlayImage };
  const board = findBoard(form.board);
  return board === null ? null : { name: board.overlayName, image: board.overlayImage };
}

function overlayPart(form: FormState): Overlay | undefined {
  const overlay = overlayOf(form);
  if (overlay === null) return undefined;
  const options = parseOverlayOptions(form.overlayOptions);
  if (options.size > 0) return { ...overlay, options };
  return overlay.name === "" && overlay.image === "" ? undefined : overlay;
}

function metaPart({ meta }: FormState): Customization["meta"] {
  const values = metaValues(meta);
  if (values === null) throw invalidInput("a META key is a number from 0 to 255");
  return values.length === 0 ? undefined : values;
}

function secureBootPart(form: FormState): Customization["secureboot"] {
  const { enrollKeys, wellKnownCertificates } = form;
  if (enrollKeys === "" && !wellKnownCertificates) return undefined;
  return {
    ...(enrollKeys === "" ? {} : { enrollKeys }),
    ...(wellKnownCertificates ? { includeWellKnownCertificates: true } : {}),
  };
}

const LARGEST_SIZE = 2n ** 64n - 1n;

function diskPart({ sectorSize }: FormState): Customization["diskImage"] {
  const plain = sectorSize.trim();
  if (plain === "") return undefined;
  const size = /^\d{1,20}$/.test(plain) ? BigInt(plain) : null;
  if (size === null || size > LARGEST_SIZE) throw invalidInput(`"${plain}" is no sector size`);
  return size === 0n ? undefined : { sectorSize: size };
}

const unlessEmpty = <T>(list: T[]): T[] | undefined => (list.length === 0 ? undefined : list);

const FORM_PARTS = [
  "overlay",
  "embeddedMachineConfiguration",
  "extraKernelArgs",
  "meta",
  "systemExtensions",
  "bootloader",
  "secureboot",
  "diskImage",
] as const;
export type FormPart = (typeof FORM_PARTS)[number];

/** A schematic without its two levels. */
type Parts = Customization & { overlay?: Overlay };

interface PartRules<P extends FormPart> {
  /** What of the form decides the part. */
  typed(form: FormState): readonly string[];
  /** What the form makes of it. */
  make(form: FormState): Parts[P] | undefined;
  /** What it was in the opened schematic. */
  kept(schematic: Schematic): Parts[P] | undefined;
}

const PARTS: { readonly [P in FormPart]: PartRules<P> } = {
  overlay: {
    typed: (form) => {
      const overlay = overlayOf(form);
      return overlay === null ? [] : [overlay.name, overlay.image, form.overlayOptions];
    },
    make: overlayPart,
    kept: (schematic) => schematic.overlay,
  },
  embeddedMachineConfiguration: {
    typed: (form) => [form.embeddedConfig],
    make: (form) => (form.embeddedConfig.trim() === "" ? undefined : plainLines(form.embeddedConfig)),
    kept: ({ customization }) => customization.embeddedMachineConfiguration,
  },
  extraKernelArgs: {
    typed: (form) => [form.cmdline.trim()],
    make: (form) => unlessEmpty(splitArguments(form.cmdline)),
    kept: ({ customization }) => customization.extraKernelArgs,
  },
  meta: {
    typed: (form) => form.meta.flatMap(({ key, value }) => [key.trim(), value]),
    make: metaPart,
    kept: ({ customization }) => customization.meta,
  },
  systemExtensions: {
    typed: (form) => form.extensions.filter((name) => name !== "" && name !== "-"),
    make: ({ extensions }) => (extensions.length === 0 ? undefined : { officialExtensions: extensions }),
    kept: ({ customization }) => customization.systemExtensions,
  },
  bootloader: {
    typed: (form) => [form.bootloader],
    make: ({ bootloader }) => (bootloader === "auto" ? undefined : bootloader),
    kept: ({ customization }) => customization.bootloader,
  },
  secureboot: {
    typed: (form) => [form.enrollKeys, String(form.wellKnownCertificates)],
    make: secureBootPart,
    kept: ({ customization }) => customization.secureboot,
  },
  diskImage: {
    typed: (form) => [form.sectorSize.trim()],
    make: diskPart,
    kept: ({ customization }) => customization.diskImage,
  },
};

/** Texts as they come back from a page: HTML turns NUL into U+FFFD, and a form sends every line end as CRLF. */
const asPosted = (texts: readonly string[]): string =>
  JSON.stringify(texts.map((text) => plainLines(text).replaceAll("\0", "\ufffd")));

/** True when a part says the same in both forms. */
export const isSamePart = (part: FormPart, a: FormState, b: FormState): boolean =>
  asPosted(PARTS[part].typed(a)) === asPosted(PARTS[part].typed(b));

/**
 * The form that shows all a schematic says, over a form that says the rest (version, machine). Texts are shown in the
 * form's own notation; formSchematic with the same schematic gives it back exactly.
 */
export function shownForm(schematic: Schematic, rest: FormState): FormState {
  const { customization, overlay } = schematic;
  const board = overlay ? findBoardByOverlay(overlay) : null;
  const options = overlay?.options;
  return settleForm({
    ...rest,
    target: overlay ? "sbc" : rest.target === "sbc" ? "metal" : rest.target,
    ...(overlay ? { board: board?.name ?? OTHER_BOARD } : {}),
    overlayName: overlay?.name ?? "",
    overlayImage: overlay?.image ?? "",
    overlayOptions: options && options.size > 0 ? emitDocument(canonicalOptions(options)) : "",
    extensions: customization.systemExtensions?.officialExtensions ?? [],
    cmdline: joinArguments(customization.extraKernelArgs ?? []),
    meta: metaFields(customization.meta ?? []),
    bootloader: customization.bootloader ?? "auto",
    enrollKeys: customization.secureboot?.enrollKeys ?? "",
    wellKnownCertificates: customization.secureboot?.includeWellKnownCertificates ?? false,
    sectorSize: String(customization.diskImage?.sectorSize ?? ""),
    embeddedConfig: customization.embeddedMachineConfiguration ?? "",
  });
}

/**
 * The schematic of a choice. Of an opened schematic every part that the form still says the same about is taken over as
 * it is, so that nothing is lost which a page cannot carry. Throws invalid_input when options, META keys or sector size
 * cannot be read; an unknown board gives no overlay.
 */
export function formSchematic(form: FormState, opened: Schematic | null = null): Schematic {
  const shown = opened === null ? null : shownForm(opened, form);
  const parts: Parts = {};
  const take = <P extends FormPart>(name: P): void => {
    const { make, kept } = PARTS[name];
    const untouched = opened !== null && shown !== null && isSamePart(name, form, shown);
    const value = untouched ? kept(opened) : make(form);
    if (value !== undefined) parts[name] = value;
  };
  for (const name of FORM_PARTS) take(name);
  const { overlay, ...customization } = parts;
  return overlay === undefined ? { customization } : { overlay, customization };
}
