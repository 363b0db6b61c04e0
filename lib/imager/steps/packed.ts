/** Steps packed and packed-part: a disk image compressed, and the compressed form of a file that lies in disk images. */
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { PACK_FORMATS, type PackFormat, packFile } from "../pack/pack-file.ts";
import { choiceParam, need, textParam } from "../params.ts";
import type { Product, StepContext, StepFunction } from "../types.ts";

/** Params: format, name (of the uncompressed file). Needs: the disk, then a file and its packed part, repeated. */
export const packed: StepFunction = (params, needs, ctx) =>
  pack(choiceParam(params, "format", PACK_FORMATS), textParam(params, "name"), needs, ctx);

/** Params: format (".gz" also serves ".tar.gz"). Needs: the file. */
export const packedPart: StepFunction = (params, needs, ctx) =>
  pack(choiceParam(params, "format", [".xz", ".zst", ".gz"]), null, needs, ctx);

async function pack(
  format: PackFormat,
  name: string | null,
  needs: readonly Product[],
  ctx: StepContext,
): Promise<Product> {
  const [image, ...rest] = needs;
  if (image === undefined || rest.length % 2 !== 0) {
    throw new AppError("internal", "packing needs a file and pairs of files", { retryable: false });
  }
  const known = Array.from({ length: rest.length / 2 }, (_, index) => ({
    source: need(rest, index * 2).path,
    packed: need(rest, index * 2 + 1).path,
  }));
  const output = join(ctx.dir, "packed");
  await packFile({ path: image.path, format, name, known, output }, ctx);
  return { path: output, shape: "file" };
}
