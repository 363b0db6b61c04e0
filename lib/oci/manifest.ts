/** Reads manifests and indexes (OCI image-spec 1.1, Docker schema 2) and picks the manifest of a platform. */
import { z } from "zod";
import { digestOf, isDigest } from "../domain/digest.ts";
import { AppError } from "../errors/app-error.ts";
import type { Descriptor, ImageManifest, ResolvedManifest } from "./types.ts";

export const MEDIA = {
  ociIndex: "application/vnd.oci.image.index.v1+json",
  ociManifest: "application/vnd.oci.image.manifest.v1+json",
  dockerList: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
} as const;

/** Value of Accept: what this client can read, indexes first. */
export const ACCEPT_MANIFESTS = Object.values(MEDIA).join(", ");

const annotations = z.record(z.string(), z.string());
const descriptorSchema = z.object({
  mediaType: z.string().min(1),
  digest: z.string().refine(isDigest, "is not a SHA-256 digest"),
  size: z.int().nonnegative(),
  annotations: annotations.nullish(),
  platform: z.object({ architecture: z.string(), os: z.string(), variant: z.string().optional() }).nullish(),
  artifactType: z.string().optional(),
});
const imageSchema = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: descriptorSchema,
  layers: z.array(descriptorSchema).max(1000),
  annotations: annotations.nullish(),
});
const indexSchema = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  manifests: z.array(descriptorSchema).max(10_000),
  annotations: annotations.nullish(),
});

export interface ImageIndex {
  manifests: Descriptor[];
  annotations: Record<string, string>;
}

/** JSON of manifest bytes with its media type; source_invalid naming the image when it is neither of the kinds. */
export function toResolvedManifest(
  what: string,
  bytes: Uint8Array,
  contentType: string | null,
): ResolvedManifest {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw unreadable(what, "the manifest is not JSON", cause);
  }
  return { digest: digestOf(bytes), mediaType: mediaTypeOf(what, json, contentType), bytes, json };
}

/** Manifests are handed on under their type, so it must not be one that browsers show: JSON of a vendor tree (RFC 6838 §3.2). */
const VENDOR_JSON = /^application\/vnd\.[a-z0-9][a-z0-9.+_-]{0,200}\+json$/;

/** What the document says of itself, else what the registry says of it, else what it looks like. */
function mediaTypeOf(what: string, json: unknown, contentType: string | null): string {
  const declared = z.object({ mediaType: z.string() }).safeParse(json);
  if (declared.success) {
    if (VENDOR_JSON.test(declared.data.mediaType)) return declared.data.mediaType;
    throw unreadable(
      what,
      `its media type ${JSON.stringify(declared.data.mediaType.slice(0, 100))} is none of a manifest`,
    );
  }
  const header = contentType?.split(";")[0]?.trim() ?? "";
  if (VENDOR_JSON.test(header)) return header;
  return typeof json === "object" && json !== null && "manifests" in json
    ? MEDIA.ociIndex
    : MEDIA.ociManifest;
}

/** True when the manifest is an index or a manifest list. A document that is both kinds at once is refused. */
export function isIndex(what: string, manifest: ResolvedManifest): boolean {
  const { json } = manifest;
  const fields = typeof json === "object" && json !== null ? json : {};
  const listsManifests = "manifests" in fields;
  if (listsManifests && ("layers" in fields || "config" in fields)) {
    throw unreadable(what, "the manifest is an index and an image at once");
  }
  return listsManifests;
}

/** The typed index; source_invalid naming what is wrong in it. */
export function parseIndex(what: string, manifest: ResolvedManifest): ImageIndex {
  const parsed = indexSchema.safeParse(manifest.json);
  if (!parsed.success) throw unreadable(what, firstIssue(parsed.error));
  return {
    manifests: parsed.data.manifests.map(toDescriptor),
    annotations: parsed.data.annotations ?? {},
  };
}

/** The typed image manifest; source_invalid naming what is wrong in it. */
export function parseImage(what: string, manifest: ResolvedManifest): ImageManifest {
  const parsed = imageSchema.safeParse(manifest.json);
  if (!parsed.success) throw unreadable(what, firstIssue(parsed.error));
  const { config, layers, mediaType, annotations: notes } = parsed.data;
  return {
    schemaVersion: 2,
    ...(mediaType === undefined ? {} : { mediaType }),
    config: toDescriptor(config),
    layers: layers.map(toDescriptor),
    ...(notes ? { annotations: notes } : {}),
  };
}

/**
 * The descriptor of linux/<arch>; entries without platform (attestations, artifacts) are passed over.
 * not_found naming the image, the architecture and those that are there.
 */
export function pickPlatform(what: string, index: ImageIndex, arch: string): Descriptor {
  const linux = index.manifests.filter((one) => one.platform?.os === "linux");
  const fitting = linux.filter((one) => one.platform?.architecture === arch);
  const found = fitting.find((one) => isBaseVariant(one)) ?? fitting[0];
  if (found) return found;
  const there = linux.map((one) => one.platform?.architecture).join(", ") || "no Linux image";
  throw new AppError("not_found", `${what} has no image for linux/${arch} (it has ${there})`, {
    hint: "Choose a file for another architecture, or a version whose images have this one.",
    retryable: false,
  });
}

/** arm64 without variant and arm64/v8 are the same thing (OCI image-spec, platform variants). */
function isBaseVariant(descriptor: Descriptor): boolean {
  const variant = descriptor.platform?.variant;
  return variant === undefined || variant === "" || variant === "v8";
}

function toDescriptor(parsed: z.infer<typeof descriptorSchema>): Descriptor {
  const { platform } = parsed;
  return {
    mediaType: parsed.mediaType,
    digest: parsed.digest,
    size: parsed.size,
    ...(parsed.annotations ? { annotations: parsed.annotations } : {}),
    ...(platform
      ? {
          platform: {
            architecture: platform.architecture,
            os: platform.os,
            ...(platform.variant === undefined ? {} : { variant: platform.variant }),
          },
        }
      : {}),
    ...(parsed.artifactType === undefined ? {} : { artifactType: parsed.artifactType }),
  };
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return `the manifest is malformed at ${issue?.path.join(".") || "its root"}: ${issue?.message ?? "unknown"}`;
}

function unreadable(what: string, reason: string, cause?: unknown): AppError {
  return new AppError("source_invalid", `cannot read ${what}: ${reason}`, {
    hint: "Choose another version, or have the operator copy this image to the source registry again.",
    retryable: false,
    cause,
  });
}
