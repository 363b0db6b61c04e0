/** What somebody pastes to open it: an ID, the address of a file or script, an installer reference, a form's address, YAML. */

import { orNull } from "../../errors/or-null.ts";
import { ARCHES, type Arch } from "../asset.ts";
import { parseAssetPath, splitSidecar } from "../asset-path.ts";
import { parseInstallerName } from "../registry-path.ts";
import { isSchematicId } from "../schematic-id.ts";
import { parseVersion } from "../versions.ts";
import { plainVersion } from "./form-state.ts";

/** What an address says beside the ID. */
export interface PastedTarget {
  /** Without "v". */
  version?: string;
  platform?: string;
  arch?: Arch;
  secureboot?: boolean;
}

export type Pasted =
  | { kind: "schematic"; id: string; target: PastedTarget }
  /** The address of a form: its own query. */
  | { kind: "form"; query: string }
  | { kind: "yaml"; text: string }
  /** Nothing that names a schematic; talosctl: the address of a program. */
  | { kind: "unknown" | "talosctl" };

/** IDs are typed and pasted in capitals too. */
const isId = (text: string): boolean => isSchematicId(text.toLowerCase());
/** Long enough for every address; longer texts are taken as YAML. */
const LONGEST_REFERENCE = 8_000;

/** A version as an address writes it; nothing for "latest" and other words. */
function versionPart(text: string | undefined): Pick<PastedTarget, "version"> {
  const version = plainVersion(text ?? "");
  return parseVersion(version) === null ? {} : { version };
}

function filePart(path: string): PastedTarget {
  const profile = orNull(() => parseAssetPath(splitSidecar(path).path));
  if (profile === null) return {};
  const { kind, platform, arch, secureboot } = profile;
  // These two are the same for every platform.
  return kind === "kernel" || kind === "initramfs" ? { arch } : { platform, arch, secureboot };
}

/** Segments behind the one that says what the address is; the host may carry a path in front. */
function fromPath(segments: string[]): Pasted | null {
  const at = segments.findIndex((segment, index) => {
    const next = segments[index + 1] ?? "";
    return ["image", "pxe", "schematics", "spdx"].includes(segment) && isId(next);
  });
  const [what = "", id = "", version, last = ""] = at < 0 ? [] : segments.slice(at);
  if (at < 0) return null;
  const file = what === "pxe" ? `cmdline-${last}` : what === "image" ? last : "";
  return {
    kind: "schematic",
    id: id.toLowerCase(),
    target: { ...versionPart(version), ...(file === "" ? {} : filePart(file)) },
  };
}

const FORM_KEYS = ["target", "from", "schematic-id"];

/** The machine that a query names. */
export function targetOfQuery(query: URLSearchParams): PastedTarget {
  const arch = ARCHES.find((known) => known === query.get("arch"));
  const platform = query.get("platform") ?? "";
  return {
    ...versionPart(query.get("version") ?? undefined),
    ...(platform === "" ? {} : { platform }),
    ...(arch === undefined ? {} : { arch }),
    ...(query.has("secureboot") ? { secureboot: query.get("secureboot") === "true" } : {}),
  };
}

function fromQuery(path: string, query: URLSearchParams): Pasted | null {
  const target = targetOfQuery(query);
  const named = query.get("schematic-id") ?? "";
  if (isId(named)) return { kind: "schematic", id: named.toLowerCase(), target };
  const found = fromPath(path.split("/"));
  if (found?.kind === "schematic") return { ...found, target: { ...target, ...found.target } };
  return FORM_KEYS.some((key) => query.has(key)) ? { kind: "form", query: query.toString() } : null;
}

function fromAddress(text: string): Pasted | null {
  const [, path = "", query = ""] = /^https?:\/\/[^/?#]+([^?#]*)(?:\?([^#]*))?/i.exec(text) ?? [];
  const clean = path.split("/").map((segment) => orNull(() => decode(segment)) ?? segment);
  if (clean.includes("talosctl")) return { kind: "talosctl" };
  return fromQuery(clean.join("/"), new URLSearchParams(query));
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `[host/]<platform>-installer[-secureboot]/<id>[:<tag>][@<digest>]` */
function fromInstaller(text: string): Pasted | null {
  const plain = text.replace(/^(?:docker|oci):\/\//, "").replace(/@sha(?:256|512):[0-9a-f]+$/i, "");
  const [, image, id = "", tag] = /(?:^|\/)([^/]+)\/([0-9a-f]{64})(?::([\w.-]+))?$/i.exec(plain) ?? [];
  const name = image === undefined ? null : orNull(() => parseInstallerName(image));
  if (name === null) return null;
  return { kind: "schematic", id: id.toLowerCase(), target: { ...versionPart(tag), ...name } };
}

function fromWord(word: string): Pasted | null {
  const plain = word.replace(/^["'<(]+|["'>),;]+$/g, "");
  if (isId(plain)) return { kind: "schematic", id: plain.toLowerCase(), target: {} };
  if (/^https?:\/\//i.test(plain)) return fromAddress(plain);
  // "/image/…" without a host, or a host without "https://".
  return fromInstaller(plain) ?? fromPath(plain.split("/"));
}

const looksLikeYaml = (text: string): boolean =>
  /^\s*(?:\{|---|#)/.test(text) || /^["']?(?:customization|overlay|owner)["']?\s*:/m.test(text);

/** What a text names. A command that holds a reference (`talosctl upgrade -i …`, `chain …`) counts as the reference. */
export function readPasted(text: string): Pasted {
  const plain = text.trim();
  if (looksLikeYaml(plain)) return { kind: "yaml", text };
  if (plain.length <= LONGEST_REFERENCE) {
    const found = plain.split(/\s+/).flatMap((word) => fromWord(word) ?? []);
    const best = found.find(({ kind }) => kind !== "talosctl") ?? found[0];
    if (best !== undefined) return best;
  }
  return /^[^\s:]+:(?:\s|$)/m.test(plain) && plain.includes("\n")
    ? { kind: "yaml", text }
    : { kind: "unknown" };
}
