/** Steps "schematic-extension" and "embedded-config": extensions that exist in no registry, made from the plan itself. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";
import { sha256Hex } from "../digests.ts";
import { textParam } from "../params.ts";
import type { Json, Product, StepContext, StepFunction } from "../types.ts";
import { squashfsOf, writeExtensionPart } from "./extension-part.ts";
import { type SquashfsEntry, writeSquashfs } from "./squashfs.ts";

const EVERY_RELEASE = { talos: { version: ">= 1.0.0" } };
const CONFIG_LABEL = "system_u:object_r:system_state_t:s0";

/** Params: version, schematicId, schematicText, externalUrl. */
export const schematicExtensionStep: StepFunction = (params, _needs, ctx) => {
  const { metadata, file } = schematicExtension(params);
  return makeExtension(textParam(params, "version"), metadata, file, ctx);
};

/** What the extension that names the schematic says and holds; params as for the step. */
export function schematicExtension(params: Record<string, Json>): {
  metadata: ExtensionMetadata;
  file: SquashfsEntry;
} {
  const version = textParam(params, "version");
  const id = textParam(params, "schematicId");
  const metadata: ExtensionMetadata = {
    name: "schematic",
    version: id,
    author: `Image Factory (${textParam(params, "externalUrl")})`,
    description: "Virtual extension which specifies the schematic of the image built with schematic.",
    compatibility: EVERY_RELEASE,
    ...(quirks(version).overlays ? { extraInfo: textParam(params, "schematicText") } : {}),
  };
  const file: SquashfsEntry = {
    path: `usr/local/share/schematic/${id}`,
    mode: 0o644,
    content: { bytes: new Uint8Array(0) },
  };
  return { metadata, file };
}

/** Params: version, config (secret). */
export const embeddedConfigStep: StepFunction = (params, _needs, ctx) => {
  const config = new TextEncoder().encode(textParam(params, "config"));
  const metadata: ExtensionMetadata = {
    name: "embedded-config",
    version: sha256Hex(config),
    author: "Imager",
    description: "Virtual extension which embeds the machine configuration.",
    compatibility: EVERY_RELEASE,
  };
  const file: SquashfsEntry = {
    path: "usr/local/etc/talos/config.yaml",
    mode: 0o400,
    label: CONFIG_LABEL,
    content: { bytes: config },
  };
  return makeExtension(textParam(params, "version"), metadata, file, ctx);
};

async function makeExtension(
  version: string,
  metadata: ExtensionMetadata,
  file: SquashfsEntry,
  ctx: StepContext,
): Promise<Product> {
  const part = join(ctx.dir, "extension");
  await mkdir(part);
  await writeSquashfs(squashfsOf(part), withFolders(file), quirks(version).compression, ctx);
  await writeExtensionPart(part, { metadata, hasModules: false, staged: [], microcode: [] });
  return { path: part, shape: "tree" };
}

/** The file behind all folders that lead to it, the root first. */
export function withFolders(file: SquashfsEntry): SquashfsEntry[] {
  const parts = file.path.split("/").slice(0, -1);
  const folders = ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
  return [...folders.map((path) => ({ path, mode: 0o755, content: "folder" as const })), file];
}
