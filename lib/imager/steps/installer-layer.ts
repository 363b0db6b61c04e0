/** Step "installer-layer": the boot files of an installer image as one layer. */
import { lstat } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import { listParam, need, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { makeLayerPart } from "./layer-part.ts";

const MODE = 0o644;

/**
 * Params: files, a list of {path}. Needs: one file for each, in the same order; then files that may lie in these and
 * their packed parts (format ".gz"), repeated. Product: a layer folder.
 */
export const installerLayerStep: StepFunction = async (params, needs, ctx) => {
  const files = listParam(params, "files");
  const pairs = needs.slice(files.length);
  if (pairs.length % 2 !== 0)
    throw new AppError("internal", "packed parts come in pairs", { retryable: false });
  const known = Array.from({ length: pairs.length / 2 }, (_, index) => ({
    source: need(pairs, index * 2).path,
    packed: need(pairs, index * 2 + 1).path,
  }));
  const members = await Promise.all(
    files.map(async (file, index) => {
      const source = need(needs, index).path;
      const content = { file: source, sizeBytes: (await lstat(source)).size, known };
      return { name: textParam(file, "path"), kind: "file" as const, mode: MODE, content };
    }),
  );
  return makeLayerPart(members, ctx);
};
