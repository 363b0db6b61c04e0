/** Adds the kernel command line: known text, or with a board a file that is written when the board's program was asked. */
import { composeCmdline } from "../../domain/cmdline.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import type { Json } from "../types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addOverlayOptions } from "./overlay.ts";

export interface CommandLine {
  /** What a step that carries the line needs besides: nothing, or the one step that writes it. */
  needs: string[];
  /**
   * The line as a step parameter, `suffix` behind it after one space. `position` is the place of `needs` among all
   * needs of that step; the step reads it by commandLineParam.
   */
  param(position: number, suffix?: string): Json;
}

/** The command line of a recipe. The same recipe without a board gives plain text, whatever else is planned. */
export function planCommandLine(b: PlanBuilder, recipe: Recipe): CommandLine {
  const behind = (suffix: string | undefined): string => (suffix === undefined ? "" : ` ${suffix}`);
  if (recipe.overlay === null) {
    const text = composeCmdline(recipe);
    return { needs: [], param: (_position, suffix) => text + behind(suffix) };
  }
  const { version, profile, meta, extraKernelArgs } = recipe;
  // Checks platform and META values before a build is queued.
  composeCmdline(recipe);
  const { kind, platform, arch, secureboot } = profile;
  const step = b.step({
    id: "board-command-line",
    op: "board-command-line",
    phase: "fetch",
    title: "Compose the kernel command line with what the board asks for",
    params: {
      version,
      profile: { kind, platform, arch, secureboot },
      meta: meta.map(({ key, value }) => ({ key, value })),
      extraKernelArgs,
    },
    needs: [addOverlayOptions(b, recipe.overlay)],
    part: false,
  });
  return { needs: [step], param: (position, suffix) => ({ need: position, suffix: behind(suffix) }) };
}
