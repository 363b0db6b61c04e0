/** Paths below /v2 (OCI distribution-spec 1.1, "Endpoints") and the names of images: what is asked of the registry. Pure. */
import { AppError, invalidInput } from "../errors/app-error.ts";
import { OWN_REPOSITORIES } from "./own-sources.ts";
import { quoteText } from "./quote.ts";

export type RegistryResource = "manifests" | "blobs" | "referrers" | "tags";

export interface InstallerRepository {
  kind: "installer";
  /** "installer/<schematic>": key of everything that is kept for it. */
  repository: string;
  image: string;
  schematicId: string;
}

export interface SourceRepository {
  kind: "source";
  /** "siderolabs/<component>". */
  repository: string;
}

export interface OwnRepository {
  kind: "own";
  /** "own/<namespace>/<name>". */
  repository: string;
}

export interface RegistryRequest {
  target: InstallerRepository | SourceRepository | OwnRepository;
  resource: RegistryResource;
  /** Tag or digest as written; "list" for tags. */
  reference: string;
}

const NAMESPACE = "siderolabs";
const LONGEST = 1_024;
const RESOURCES = ["manifests", "blobs", "referrers", "tags"] as const;

/** Images of the source that are passed on. */
const SOURCE_COMPONENTS = [
  "installer-base",
  "installer",
  "imager",
  "extensions",
  "overlays",
  "talosctl-all",
] as const;

/** A refusal with one of the error codes of the distribution-spec. */
export function registryError(
  code: "not_found" | "invalid_input",
  ociCode: "NAME_UNKNOWN" | "NAME_INVALID" | "MANIFEST_UNKNOWN" | "BLOB_UNKNOWN" | "DIGEST_INVALID",
  message: string,
  extra: { hint?: string; details?: Record<string, unknown> } = {},
): AppError {
  return new AppError(code, message, {
    ...extra,
    retryable: false,
    details: { ...extra.details, ociCode },
  });
}

/**
 * What a raw path below /v2 asks for; null for the bare /v2 itself. not_found with the path for everything else. Percent
 * signs are decoded once per segment; an encoded slash never splits a segment.
 */
export function parseRegistryPath(rawPath: string): RegistryRequest | null {
  const rest = rawPath.replace(/^\/v2(?=\/|$)/, "");
  const trimmed = rest.replace(/^\/+|\/+$/g, "");
  if (trimmed === "") return null;
  if (rest.length > LONGEST) throw unknownPath(rest);
  const segments = trimmed.split("/").map(decoded);
  const reference = segments.at(-1) ?? "";
  const resource = RESOURCES.find((one) => one === segments.at(-2));
  const name = segments.slice(0, -2);
  const fits =
    resource !== undefined &&
    reference !== "" &&
    rest.endsWith(trimmed) &&
    name.length >= 2 &&
    (resource !== "tags" || reference === "list") &&
    segments.every((segment) => segment !== null && /^[\x21-\x2e\x30-\x7e]+$/.test(segment));
  if (!fits) throw unknownPath(rest);
  const [first = "", second = "", ...more] = name.map((segment) => segment ?? "");
  const repository = [first, second, ...more].join("/");
  if (first === NAMESPACE) return { target: { kind: "source", repository }, resource, reference };
  if (`${first}/` === OWN_REPOSITORIES && more.length > 0)
    return { target: { kind: "own", repository }, resource, reference };
  if (more.length > 0) throw unknownPath(rest);
  return {
    target: { kind: "installer", repository, image: first, schematicId: second },
    resource,
    reference,
  };
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

const unknownPath = (rest: string): AppError =>
  registryError("not_found", "NAME_UNKNOWN", `unknown registry path: ${quoteText(rest.slice(0, LONGEST))}`, {
    hint: "Installers are <platform>-installer/<schematic>:<version>; images of the source are siderolabs/<component>.",
  });

/** not_found naming the component when the source image is not one that is passed on. */
export function requireSourceComponent({ repository }: SourceRepository): void {
  const component = repository.slice(NAMESPACE.length + 1);
  if (SOURCE_COMPONENTS.some((known) => known === component)) return;
  throw registryError("not_found", "NAME_UNKNOWN", `unknown image: ${component}`, {
    hint: `Passed on are ${SOURCE_COMPONENTS.join(", ")}.`,
  });
}

export interface InstallerName {
  platform: string;
  secureboot: boolean;
}

/** Platform and SecureBoot of an image name; invalid_input naming it when it is none. Platforms are checked later. */
export function parseInstallerName(image: string): InstallerName {
  const plain = image.endsWith("-secureboot") ? image.slice(0, -"-secureboot".length) : image;
  const secureboot = plain !== image;
  if (plain === "installer") return { platform: "metal", secureboot };
  if (plain.endsWith("-installer")) {
    return { platform: plain.slice(0, -"-installer".length) || "metal", secureboot };
  }
  throw invalidInput(`invalid image: ${image}`, {
    hint: "Names are installer, <platform>-installer, and the same with -secureboot.",
    details: { ociCode: "NAME_INVALID" },
  });
}
