/** Steps packed and packed-part: a disk image compressed, and the compressed form of a file that lies in disk images. */
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { PACK_FORMATS, packFile } from "../pack/pack-file.ts";
import { choiceParam, need, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** Params: format, name (of the uncompressed file). Needs: the disk, then a file and its packed part, repeated. */
export const packed: StepFunction = async (params, needs, ctx) => {
  const [image, ...rest] = needs;
  if (image === undefined || rest.length % 2 !== 0) {
    throw new AppError("internal", "the step packed needs a disk and pairs of files", { retryable: false });
  }
  const known = Array.from({ length: rest.length / 2 }, (_, index) => ({
    source: need(rest, index * 2).path,
    packed: need(rest, index * 2 + 1).path,
  }));
  const output = join(ctx.dir, "packed");
  const format = choiceParam(params, "format", PACK_FORMATS);
  await packFile({ path: image.path, format, name: textParam(params, "name"), known, output }, ctx);
  return { path: output, shape: "file" };
};

/** Params: format (".gz" also serves ".tar.gz"). Needs: the file. */
export const packedPart: StepFunction = async (params, needs, ctx) => {
  const output = join(ctx.dir, "part");
  const format = choiceParam(params, "format", [".xz", ".zst", ".gz"]);
  await packFile({ path: need(needs, 0).path, format, name: null, known: [], output }, ctx);
  return { path: output, shape: "file" };
};
