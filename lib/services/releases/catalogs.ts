/** Reads the catalogs of a release: which extensions and board overlays exist, under which digests. */
import { lstat, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { z } from "zod";
import { isDigest } from "../../domain/digest.ts";
import type { CatalogExtension, CatalogOverlay } from "../../domain/release.ts";
import { AppError } from "../../errors/app-error.ts";
import { parseReference } from "../../oci/reference.ts";
import type { SourceImages } from "../../oci/types.ts";

export const EXTENSIONS_CATALOG = "siderolabs/extensions";
export const OVERLAYS_CATALOG = "siderolabs/overlays";
/** Catalog images are made for every architecture with the same contents; this one is read. */
export const CATALOG_ARCH = "amd64";

const MAX_CATALOG_BYTES = 64 * 1024 * 1024;
const MAX_CATALOG_ENTRIES = 10_000;

const descriptionsSchema = z.record(
  z.string(),
  z.object({ author: z.string().nullish(), description: z.string().nullish() }).nullable(),
);
const overlaysSchema = z.object({
  overlays: z.array(
    z.object({ name: z.string().min(1), image: z.string(), digest: z.string().refine(isDigest) }),
  ),
});

/** The extensions of a catalog image in its own order, their references under the public registry name. */
export async function readExtensionsCatalog(
  images: SourceImages,
  digest: string,
  publicName: string,
  signal?: AbortSignal,
  repository = EXTENSIONS_CATALOG,
): Promise<CatalogExtension[]> {
  const what = `${repository}@${digest}`;
  const names = ["image-digests", "descriptions.yaml"];
  const files = await readFiles(images, repository, digest, names, signal);
  const digests = files.get("image-digests");
  if (digests === undefined) throw badCatalog(what, "the file image-digests is not in it");
  return parseImageDigests(what, digests, files.get("descriptions.yaml") ?? "", publicName);
}

/** The board overlays of a catalog image in its own order. */
export async function readOverlaysCatalog(
  images: SourceImages,
  digest: string,
  signal?: AbortSignal,
  repository = OVERLAYS_CATALOG,
): Promise<CatalogOverlay[]> {
  const what = `${repository}@${digest}`;
  const files = await readFiles(images, repository, digest, ["overlays.yaml"], signal);
  const text = files.get("overlays.yaml");
  if (text === undefined) throw badCatalog(what, "the file overlays.yaml is not in it");
  return parseOverlays(what, text);
}

/**
 * One line per extension, "<registry>/<name>:<version>@sha256:<hex>"; lines without "@" are passed over. Author and
 * description come from a map keyed by the whole line. source_invalid naming the line that cannot be read.
 */
function parseImageDigests(
  what: string,
  digests: string,
  descriptions: string,
  publicName: string,
): CatalogExtension[] {
  const parsed = descriptionsSchema.safeParse(parseYaml(what, "descriptions.yaml", descriptions) ?? {});
  if (!parsed.success) throw badCatalog(what, `descriptions.yaml: ${parsed.error.issues[0]?.message}`);
  const texts = new Map(Object.entries(parsed.data));
  const lines = digests.split(/\r?\n/).map((line) => line.trim());
  return lines
    .filter((line) => line.includes("@"))
    .map((line) => {
      const { repository, tag, digest } = referenceOf(what, line);
      if (tag === null || digest === null)
        throw badCatalog(what, `the line ${JSON.stringify(line)} lacks a tag`);
      const text = texts.get(line);
      return {
        name: repository,
        ref: `${publicName}/${repository}:${tag}`,
        digest,
        author: text?.author ?? "",
        description: text?.description ?? "",
      };
    });
}

/** The list under "overlays"; references are kept as they are written. source_invalid when it cannot be read. */
function parseOverlays(what: string, text: string): CatalogOverlay[] {
  const parsed = overlaysSchema.safeParse(parseYaml(what, "overlays.yaml", text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw badCatalog(what, `overlays.yaml at ${issue?.path.join(".") || "its root"}: ${issue?.message}`);
  }
  return parsed.data.overlays.map(({ name, image, digest }) => ({
    name,
    image: referenceOf(what, image).repository,
    ref: image,
    digest,
  }));
}

function referenceOf(what: string, text: string) {
  try {
    return parseReference(text);
  } catch (cause) {
    throw badCatalog(what, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function parseYaml(what: string, file: string, text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: false });
  const [error] = document.errors;
  if (error) throw badCatalog(what, `${file} is not YAML: ${error.message.split("\n")[0]}`);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw badCatalog(what, `${file} cannot be read`, cause);
  }
}

async function readFiles(
  images: SourceImages,
  repository: string,
  digest: string,
  names: string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const scratch = await mkdtemp(join(tmpdir(), "casthouse-catalog-"));
  try {
    const { dir } = await images.extract(repository, digest, CATALOG_ARCH, join(scratch, "tree"), {
      filter: (path) => names.includes(path),
      maxBytes: MAX_CATALOG_BYTES,
      maxEntries: MAX_CATALOG_ENTRIES,
      ...(signal ? { signal } : {}),
    });
    const files = new Map<string, string>();
    for (const name of names) {
      // A link instead of a file would lead out of the tree.
      const found = await lstat(join(dir, name)).catch(() => null);
      if (found?.isFile()) files.set(name, await readFile(join(dir, name), "utf8"));
    }
    return files;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function badCatalog(what: string, reason: string, cause?: unknown): AppError {
  return new AppError("source_invalid", `the catalog ${what} cannot be used: ${reason}`, {
    hint: "Choose another version, or have the operator copy this release to the source registry again.",
    retryable: false,
    cause,
  });
}
