/** Step "overlay-layer": what an installer needs of a board overlay, as one layer. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { LayerMember } from "../pack/layer.ts";
import { need, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { copyFollowing } from "./copy-following.ts";
import { resolveInside } from "./file-tree.ts";
import { makeLayerPart } from "./layer-part.ts";
import { findInstaller } from "./overlay-program.ts";

const PERMISSIONS = 0o7777;

/**
 * Params: name (of the overlay), options (YAML text). Needs: the overlay's tree for the target architecture.
 * Links among the artifacts become what they point at. not_found when the overlay has no installer of that name.
 */
export const overlayLayerStep: StepFunction = async (params, needs, ctx) => {
  const root = need(needs, 0).path;
  const name = textParam(params, "name");
  const installer = await findInstaller(root, name);
  const options = new TextEncoder().encode(textParam(params, "options"));
  return makeLayerPart(
    [
      ...(await artifacts(root, join(ctx.dir, "artifacts"))),
      { name: "overlay/extra-options", kind: "file", mode: 0o644, content: options },
      { name: "overlay/installers/default", ...(await plainFile(installer)) },
    ],
    ctx,
  );
};

async function artifacts(root: string, copy: string): Promise<LayerMember[]> {
  if ((await resolveInside(root, "artifacts")) === null) return [];
  const entries = await copyFollowing(root, "artifacts", copy);
  return Promise.all(
    entries.map(async ({ path, folder }): Promise<LayerMember> => {
      const name = `overlay/artifacts/${path}`;
      // Images are unpacked with folders of their own modes plus rwx for the owner; 0755 is what they have.
      return folder
        ? { name, kind: "folder", mode: 0o755, content: null }
        : { name, ...(await plainFile(join(copy, path))) };
    }),
  );
}

async function plainFile(file: string): Promise<Omit<LayerMember, "name">> {
  const { size, mode } = await lstat(file);
  return { kind: "file", mode: mode & PERMISSIONS, content: { file, sizeBytes: size } };
}
