/** Reads the text of a schematic. docs/schematics.md has the fields, the conversions and the limits. */
import { AppError, invalidInput } from "../errors/app-error.ts";
import type { OptionValue, Schematic, SchematicBootloader } from "./schematic-types.ts";
import { Construction, type Reader } from "./yaml/construct.ts";
import { optionMapReader } from "./yaml/construct-option.ts";
import { constructErrors, loadError } from "./yaml/failure.ts";
import { MAX_TEXT_BYTES } from "./yaml/limits.ts";
import { parseDocument } from "./yaml/parser.ts";
import { booleanReader, listReader, stringReader, structReader, unsignedReader } from "./yaml/readers.ts";

const MAX_UINT8 = 255n;
const MAX_UINT64 = 2n ** 64n - 1n;
const BOOTLOADERS: readonly SchematicBootloader[] = ["dual-boot", "sd-boot", "grub"];

/** The fields as they are filled while reading; empty ones are left out of the schematic at the end. */
interface Draft {
  owner: string;
  image: string;
  name: string;
  options: Map<string, OptionValue>;
  machineConfiguration: string;
  kernelArgs: string[];
  meta: { key: number; value: string }[];
  extensions: string[];
  bootloader: SchematicBootloader | null;
  enrollKeys: string;
  wellKnownCertificates: boolean;
  sectorSize: bigint;
}

const newDraft = (): Draft => ({
  owner: "",
  image: "",
  name: "",
  options: new Map(),
  machineConfiguration: "",
  kernelArgs: [],
  meta: [],
  extensions: [],
  bootloader: null,
  enrollKeys: "",
  wellKnownCertificates: false,
  sectorSize: 0n,
});

function bootloaderReader(construction: Construction, draft: Draft): Reader {
  return (node) => {
    if (node.kind !== "scalar") {
      const type = "imageropts.BootloaderKind (TextUnmarshaler)";
      construction.addError(node.mark, `cannot construct ${node.tag} into ${type}`);
      return false;
    }
    const meaning = construction.meaning(node);
    if (meaning.value === null) return false;
    const text = meaning.tag === "!!binary" ? String(meaning.value) : node.text;
    const kind = text.toLowerCase();
    const known = BOOTLOADERS.find((bootloader) => bootloader === kind);
    if (known === undefined && kind !== "none") {
      construction.addError(node.mark, `${text} does not belong to BootloaderKind values`);
      return false;
    }
    draft.bootloader = known ?? null;
    return true;
  };
}

function metaReader(construction: Construction, push: (value: Draft["meta"][number]) => void): Reader {
  return (node) => {
    const item = { key: 0, value: "" };
    const read = structReader(construction, "schematic.MetaValue", {
      key: unsignedReader(construction, { typeName: "uint8", max: MAX_UINT8 }, (value) => {
        item.key = Number(value);
      }),
      value: stringReader(construction, (value) => {
        item.value = value;
      }),
    });
    const good = read(node);
    if (good) push(item);
    return good;
  };
}

function overlayReader(construction: Construction, draft: Draft): Reader {
  return structReader(construction, "schematic.Overlay", {
    image: stringReader(construction, (value) => {
      draft.image = value;
    }),
    name: stringReader(construction, (value) => {
      draft.name = value;
    }),
    options: optionMapReader(construction, "map[string]interface {}", (value) => {
      draft.options = value;
    }),
  });
}

function customizationReader(construction: Construction, draft: Draft): Reader {
  const strings = (push: (value: string) => void) => stringReader(construction, push);
  return structReader(construction, "schematic.Customization", {
    embeddedMachineConfiguration: stringReader(construction, (value) => {
      draft.machineConfiguration = value;
    }),
    extraKernelArgs: listReader(construction, "[]string", strings, (value) => {
      draft.kernelArgs = value;
    }),
    meta: listReader(
      construction,
      "[]schematic.MetaValue",
      (push: (value: Draft["meta"][number]) => void) => metaReader(construction, push),
      (value) => {
        draft.meta = value;
      },
    ),
    systemExtensions: structReader(construction, "schematic.SystemExtensions", {
      officialExtensions: listReader(construction, "[]string", strings, (value) => {
        draft.extensions = value;
      }),
    }),
    bootloader: bootloaderReader(construction, draft),
    secureboot: structReader(construction, "schematic.SecureBootCustomization", {
      enrollKeys: stringReader(construction, (value) => {
        draft.enrollKeys = value;
      }),
      includeWellKnownCertificates: booleanReader(construction, (value) => {
        draft.wellKnownCertificates = value;
      }),
    }),
    diskImage: structReader(construction, "schematic.DiskImageCustomization", {
      sectorSize: unsignedReader(construction, { typeName: "uint", max: MAX_UINT64 }, (value) => {
        draft.sectorSize = value;
      }),
    }),
  });
}

function finish(draft: Draft): Schematic {
  const { image, name, options, enrollKeys, wellKnownCertificates } = draft;
  const schematic: Schematic = { customization: {} };
  const { customization } = schematic;
  if (draft.owner !== "") schematic.owner = draft.owner;
  if (options.size > 0) schematic.overlay = { image, name, options };
  else if (image !== "" || name !== "") schematic.overlay = { image, name };
  if (draft.machineConfiguration !== "") {
    customization.embeddedMachineConfiguration = draft.machineConfiguration;
  }
  if (draft.kernelArgs.length > 0) customization.extraKernelArgs = draft.kernelArgs;
  if (draft.meta.length > 0) customization.meta = draft.meta;
  if (draft.extensions.length > 0) customization.systemExtensions = { officialExtensions: draft.extensions };
  if (draft.bootloader !== null) customization.bootloader = draft.bootloader;
  if (enrollKeys !== "" || wellKnownCertificates) {
    customization.secureboot = {
      ...(enrollKeys === "" ? {} : { enrollKeys }),
      ...(wellKnownCertificates ? { includeWellKnownCertificates: true } : {}),
    };
  }
  if (draft.sectorSize !== 0n) customization.diskImage = { sectorSize: draft.sectorSize };
  return schematic;
}

function tooLarge(): AppError {
  return new AppError("too_large", "the schematic is larger than 1 MiB", {
    retryable: false,
    hint: "Shorten the embedded machine configuration; a schematic names extensions, it does not hold them.",
  });
}

/**
 * Text of a request body: UTF-8, or UTF-16 when a byte order mark says so.
 * Errors: too_large over 1 MiB, invalid_input for bytes that are no text.
 */
export function decodeSchematicText(body: Uint8Array): string {
  if (body.length > MAX_TEXT_BYTES) throw tooLarge();
  const littleEndian = body[0] === 0xff && body[1] === 0xfe;
  const bigEndian = body[0] === 0xfe && body[1] === 0xff;
  const encoding = littleEndian ? "utf-16le" : bigEndian ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(body);
  } catch {
    throw loadError("reader", `the text is not valid ${encoding.toUpperCase()}`, null);
  }
}

/**
 * The schematic a text describes, owner included. Only the first YAML document counts.
 * Errors: too_large over 1 MiB, invalid_input with the decoder's words.
 */
export function decodeSchematic(text: string): Schematic {
  if (text.length > MAX_TEXT_BYTES || new TextEncoder().encode(text).length > MAX_TEXT_BYTES)
    throw tooLarge();
  const root = parseDocument(text);
  if (root === null) {
    throw invalidInput("EOF", { hint: "The text is empty. The smallest schematic is: customization: {}" });
  }
  const draft = newDraft();
  const construction = new Construction();
  construction.construct(
    root,
    structReader(construction, "schematic.Schematic", {
      owner: stringReader(construction, (value) => {
        draft.owner = value;
      }),
      overlay: overlayReader(construction, draft),
      customization: customizationReader(construction, draft),
    }),
  );
  if (construction.errors.length > 0) throw constructErrors(construction.errors);
  return finish(draft);
}

/**
 * As decodeSchematic, for a service without accounts: a schematic that names an owner is refused.
 * Errors: too_large over 1 MiB, invalid_input with the decoder's words.
 */
export function parseSchematic(text: string): Schematic {
  const schematic = decodeSchematic(text);
  if (schematic.owner === undefined) return schematic;
  throw invalidInput("owner field is only supported in Enterprise edition", {
    hint: "Remove the owner field; this service keeps no accounts.",
  });
}
