/** What every packer gets: a file, what lies where in it, and the finished parts. */
import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import type { Segment } from "./segments.ts";

export interface PackJob {
  /** The file to pack and the segments that cover it. */
  source: FileHandle;
  segments: readonly Segment[];
  /** Packed forms of the known files, in their order. */
  parts: readonly string[];
  output: string;
  /** True for parts, which are packed once and used often. */
  thorough: boolean;
}

/** For what cannot happen unless a tool or a file changed under us. */
export const packingBroke = (what: string): AppError =>
  new AppError("internal", `compressing the disk went wrong: ${what}`);
