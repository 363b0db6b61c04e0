/** The kernel command line as a file, known or composed with what a board asks for, and how other steps read it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ARCHES } from "../../domain/asset.ts";
import { composeCmdline } from "../../domain/cmdline.ts";
import {
  choiceParam,
  flagParam,
  listParam,
  need,
  numberParam,
  objectParam,
  textListParam,
  textParam,
} from "../params.ts";
import type { Json, Product, StepFunction } from "../types.ts";
import { readOverlayOptions } from "./overlay-options.ts";

const KINDS = ["initramfs", "iso", "uki", "installer", "image"] as const;

/** Params: text. The product has no line end. */
export const commandLineStep: StepFunction = async (params, _needs, ctx) => {
  const path = join(ctx.dir, "cmdline");
  await writeFile(path, textParam(params, "text"));
  return { path, shape: "file" };
};

/**
 * Params: version, profile { kind, platform, arch, secureboot }, meta (list of { key, value }), extraKernelArgs. Needs:
 * the answer of the overlay's program. The product is what commandLineStep writes.
 */
export const boardCommandLineStep: StepFunction = async (params, needs, ctx) => {
  const profile = objectParam(params, "profile");
  const { kernelArgs } = await readOverlayOptions(need(needs, 0));
  const text = composeCmdline(
    {
      version: textParam(params, "version"),
      profile: {
        kind: choiceParam(profile, "kind", KINDS),
        platform: textParam(profile, "platform"),
        arch: choiceParam(profile, "arch", ARCHES),
        secureboot: flagParam(profile, "secureboot"),
        outFormat: "raw",
      },
      meta: listParam(params, "meta").map((entry) => ({
        key: numberParam(entry, "key"),
        value: textParam(entry, "value"),
      })),
      extraKernelArgs: textListParam(params, "extraKernelArgs"),
    },
    kernelArgs,
  );
  ctx.log(`kernel command line: ${text}`);
  const path = join(ctx.dir, "cmdline");
  await writeFile(path, text);
  return { path, shape: "file" };
};

/**
 * The command line under `commandLine`: text, or { need, suffix }, which is the content of that product with the suffix
 * behind it.
 */
export async function commandLineParam(
  params: Record<string, Json>,
  needs: readonly Product[],
): Promise<string> {
  if (typeof params.commandLine === "string") return params.commandLine;
  const line = objectParam(params, "commandLine");
  const { path } = need(needs, numberParam(line, "need"));
  return (await readFile(path, "utf8")) + textParam(line, "suffix");
}
