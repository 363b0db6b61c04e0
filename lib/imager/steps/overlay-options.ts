/** Step "overlay-options": asks the program of a board overlay for kernel arguments and disk layout. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { need, textParam } from "../params.ts";
import type { Product, StepFunction } from "../types.ts";
import { callOverlay } from "./overlay-program.ts";

export interface OverlayOptions {
  /** In the program's order. */
  kernelArgs: string[];
  /** Sectors left free between the GPT's header and its entries. */
  offset: number;
}

const TIMEOUT_MS = 60_000;
const MOST_ARGUMENTS = 1_000;
/** 32 GiB in sectors of 512 bytes: more than any disk image has. */
const MOST_SECTORS = 2 ** 26;

const answerSchema = z.object({
  kernelArgs: z.array(z.string()).max(MOST_ARGUMENTS).nullish(),
  partitionOptions: z.object({ offset: z.int().min(0).max(MOST_SECTORS).nullish() }).nullish(),
});
const optionsSchema = z.object({ kernelArgs: z.array(z.string()), offset: z.number() });

/**
 * Params: name (of the overlay), options (YAML text). Needs: the overlay's tree for this machine. The product is a JSON
 * file with OverlayOptions. source_invalid when the answer is not what the protocol says.
 */
export const overlayOptionsStep: StepFunction = async (params, needs, ctx) => {
  const name = textParam(params, "name");
  const folder = join(ctx.dir, "overlay");
  await mkdir(folder);
  const answer = await callOverlay(
    {
      root: need(needs, 0).path,
      name,
      verb: "get-options",
      stdin: textParam(params, "options"),
      folder,
      timeoutMs: TIMEOUT_MS,
    },
    ctx,
  );
  const path = join(ctx.dir, "options.json");
  await writeFile(path, JSON.stringify(parseAnswer(name, answer)));
  return { path, shape: "file" };
};

/** The YAML answer of "get-options". */
export function parseAnswer(name: string, text: string): OverlayOptions {
  const document = parseDocument(text);
  const answer =
    document.errors.length > 0 ? null : answerSchema.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (!answer?.success) {
    const reason = answer?.error.issues[0];
    throw new AppError(
      "source_invalid",
      `the overlay ${name} answers "get-options" with something unreadable`,
      {
        details: {
          reason: reason
            ? `${reason.path.join(".")}: ${reason.message}`
            : String(document.errors[0]?.message),
          tail: text.slice(0, 1000),
        },
        retryable: false,
      },
    );
  }
  const { kernelArgs, partitionOptions } = answer.data;
  return { kernelArgs: kernelArgs ?? [], offset: partitionOptions?.offset ?? 0 };
}

/** Reads the product of the step. */
export async function readOverlayOptions({ path }: Product): Promise<OverlayOptions> {
  return optionsSchema.parse(JSON.parse(await readFile(path, "utf8")));
}
