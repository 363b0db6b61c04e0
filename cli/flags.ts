/** Flags of `casthouse imager`: those of the official imager, and a few that say where images come from. */
import { parseArgs } from "node:util";
import { parseDocument } from "yaml";
import { z } from "zod";
import type { ContainerAsset, ImagerProfile } from "../lib/domain/imager-profile/types.ts";
import { invalidInput } from "../lib/errors/app-error.ts";

/** Flags that describe what to make; they have no place beside a profile on standard input. */
const PROFILE_FLAGS = {
  platform: { type: "string" },
  arch: { type: "string" },
  "talos-version": { type: "string" },
  "base-installer-image": { type: "string" },
  "image-cache": { type: "string" },
  insecure: { type: "boolean" },
  "extra-kernel-arg": { type: "string", multiple: true },
  meta: { type: "string", multiple: true },
  "system-extension-image": { type: "string", multiple: true },
  "output-kind": { type: "string" },
  "overlay-name": { type: "string" },
  "overlay-image": { type: "string" },
  "overlay-option": { type: "string", multiple: true },
  "embedded-config-path": { type: "string" },
  "secureboot-include-well-known-certs": { type: "boolean" },
  "secureboot-signer-address": { type: "string" },
  "pcr-signer-address": { type: "string" },
  "secureboot-enroll-keys": { type: "string" },
} as const;

const OTHER_FLAGS = {
  output: { type: "string" },
  "tar-to-stdout": { type: "boolean" },
  schematic: { type: "string" },
  "external-url": { type: "string" },
  source: { type: "string" },
  "cache-dir": { type: "string" },
} as const;

const parse = (args: string[]) =>
  parseArgs({ args, allowPositionals: true, options: { ...PROFILE_FLAGS, ...OTHER_FLAGS } });
export type ImagerFlags = ReturnType<typeof parse>["values"];

/** Name of the profile ("-" for standard input) and the flags. invalid_input for anything unknown. */
export function parseImagerFlags(args: string[]): { profile: string; flags: ImagerFlags } {
  const { values: flags, positionals } = readArguments(() => parse(args));
  const [profile, ...rest] = positionals;
  if (profile === undefined || rest.length > 0) {
    throw invalidInput("casthouse imager takes one profile name, or - for a profile on standard input");
  }
  const misplaced = Object.keys(flags).find((name) => Object.hasOwn(PROFILE_FLAGS, name));
  if (profile === "-" && misplaced !== undefined) {
    throw invalidInput(`--${misplaced} has no effect on a profile that comes on standard input`, {
      hint: "Say it in the profile.",
    });
  }
  return { profile, flags };
}

/** Runs a parser of node:util, whose complaints become invalid_input. */
export function readArguments<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw invalidInput(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Reads a file that a flag names. */
export type ReadText = (path: string) => string;

/** The profile that the flags describe, on top of the named one. */
export function profileOfFlags(name: string, flags: ImagerFlags, read: ReadText): ImagerProfile {
  const image = (imageRef: string): ContainerAsset => ({
    imageRef,
    ...(flags.insecure === true ? { forceInsecure: true } : {}),
  });
  const embedded = flags["embedded-config-path"];
  const version = flags["talos-version"];
  return {
    baseProfileName: name,
    ...given("platform", flags.platform),
    ...given("arch", flags.arch),
    ...given("version", version),
    customization: {
      extraKernelArgs: flags["extra-kernel-arg"] ?? [],
      metaContents: (flags.meta ?? []).map(metaValue),
      ...given("embeddedMachineConfiguration", embedded === undefined ? undefined : read(embedded)),
    },
    input: {
      systemExtensions: (flags["system-extension-image"] ?? []).map(image),
      ...given("baseInstaller", mapped(flags["base-installer-image"], image)),
      ...given("overlayInstaller", mapped(flags["overlay-image"], image)),
      ...given("imageCache", mapped(flags["image-cache"], image)),
      ...secureBootInput(flags),
    },
    ...overlayOf(flags, image, read),
    ...outputOf(flags),
  };
}

const mapped = <T, U>(value: T | undefined, change: (value: T) => U): U | undefined =>
  value === undefined ? undefined : change(value);

function given<K extends string, V>(key: K, value: V | undefined): { [name in K]?: V } {
  const pair: { [name in K]?: V } = {};
  if (value !== undefined) pair[key] = value;
  return pair;
}

function metaValue(text: string): { key: number; value: string } {
  const [, keyText = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const key = /^(0x[0-9a-f]+|0o[0-7]+|\d+)$/i.test(keyText) ? Number(keyText) : Number.NaN;
  if (Number.isInteger(key) && key <= 255) return { key, value };
  throw invalidInput(`--meta ${JSON.stringify(text)} is not a key from 0 to 255, "=" and a value`);
}

function secureBootInput(flags: ImagerFlags): Pick<NonNullable<ImagerProfile["input"]>, "secureboot"> {
  const signer = flags["secureboot-signer-address"];
  const pcr = flags["pcr-signer-address"];
  const wellKnown = flags["secureboot-include-well-known-certs"];
  if (signer === undefined && pcr === undefined && wellKnown === undefined) return {};
  return {
    secureboot: {
      ...given(
        "secureBootSigner",
        mapped(signer, (signerAddress) => ({ signerAddress })),
      ),
      ...given(
        "pcrSigner",
        mapped(pcr, (signerAddress) => ({ signerAddress })),
      ),
      ...given("includeWellKnownCerts", wellKnown),
    },
  };
}

function overlayOf(
  flags: ImagerFlags,
  image: (reference: string) => ContainerAsset,
  read: ReadText,
): Pick<ImagerProfile, "overlay"> {
  const name = flags["overlay-name"];
  const reference = flags["overlay-image"];
  const written = flags["overlay-option"] ?? [];
  if (name === undefined && reference === undefined && written.length === 0) return {};
  const options: Record<string, unknown> = {};
  for (const option of written) Object.assign(options, overlayOption(option, read));
  return {
    overlay: { ...given("name", name), ...given("image", mapped(reference, image)), options },
  };
}

/** `key=value`, `key=@file` for the text of a file, `@file` for a whole YAML document of options. */
function overlayOption(text: string, read: ReadText): Record<string, unknown> {
  if (text.startsWith("@")) return optionsDocument(read(text.slice(1)));
  const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === "") throw invalidInput(`--overlay-option ${JSON.stringify(text)} is not key=value`);
  return { [key]: value.startsWith("@") ? read(value.slice(1)) : value };
}

function optionsDocument(yaml: string): Record<string, unknown> {
  const document = parseDocument(yaml);
  const options = z.record(z.string(), z.unknown()).safeParse(document.toJS({ maxAliasCount: 100 }) ?? {});
  if (document.errors.length === 0 && options.success) return options.data;
  throw invalidInput("a file of overlay options is not a YAML document with keys and values");
}

function outputOf(flags: ImagerFlags): Pick<ImagerProfile, "output"> {
  const kind = flags["output-kind"];
  const sdBootEnrollKeys = flags["secureboot-enroll-keys"];
  if (kind === undefined && sdBootEnrollKeys === undefined) return {};
  const enroll = sdBootEnrollKeys === undefined ? {} : { sdBootEnrollKeys };
  return {
    output: {
      ...given("kind", kind),
      // Compression belongs to the disk image that the named profile would have made.
      ...(kind === undefined || kind === "image" ? {} : { outFormat: "raw" }),
      ...(sdBootEnrollKeys === undefined ? {} : { isoOptions: enroll, imageOptions: enroll }),
    },
  };
}
