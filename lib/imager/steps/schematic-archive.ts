/** Step "schematic-archive": the extension that names the schematic, as a plain tar of its tree for an imager. */
import { join } from "node:path";
import { extensionManifest } from "../../formats/extension-manifest.ts";
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from "../../formats/tar.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import type { StepFunction } from "../types.ts";
import { schematicExtension, withFolders } from "./made-extensions.ts";
import { type Piece, writePieces } from "./write-pieces.ts";

/** Params: version, schematicId, schematicText, externalUrl. */
export const schematicArchiveStep: StepFunction = async (params, _needs, ctx) => {
  const { metadata, file } = schematicExtension(params);
  const manifest = new TextEncoder().encode(extensionManifest(metadata));
  const pieces: Piece[] = [...member("manifest.yaml", 0o644, manifest)];
  for (const entry of withFolders(file)) {
    const name = entry.path === "" ? "rootfs" : `rootfs/${entry.path}`;
    pieces.push(...member(name, entry.mode, entry.content === "folder" ? null : new Uint8Array(0)));
  }
  const path = join(ctx.dir, "schematic.tar");
  await writePieces(path, [...pieces, new Uint8Array(TAR_END_BYTES)], ctx.signal);
  return { path, shape: "file" };
};

function member(name: string, mode: number, content: Uint8Array | null): Piece[] {
  const kind = content === null ? "folder" : "file";
  const sizeBytes = content?.length ?? 0;
  const head = tarHeader({ name, kind, mode, sizeBytes, mtime: SOURCE_DATE_EPOCH });
  return [head, content ?? new Uint8Array(0), new Uint8Array(tarPaddingBytes(sizeBytes))];
}
