/** From the form to the schematic it describes. */
import { type Board, findBoard } from "../boards.ts";
import type { Schematic } from "../schematic-types.ts";
import type { FormState } from "./form-state.ts";
import { parseOverlayOptions } from "./overlay-options-text.ts";

/** Kernel arguments of a typed line: split at white space. */
export const splitArguments = (line: string): string[] => line.split(/\s+/).filter((word) => word !== "");

function overlayOf(board: Board, text: string): NonNullable<Schematic["overlay"]> {
  const overlay = { name: board.overlayName, image: board.overlayImage };
  const options = parseOverlayOptions(text);
  return options.size === 0 ? overlay : { ...overlay, options };
}

/**
 * The schematic of a choice. Line ends of the embedded configuration become LF.
 * Throws invalid_input when the overlay options are no YAML map; an unknown board gives no overlay.
 */
export function formSchematic(form: FormState): Schematic {
  const board = form.target === "sbc" ? findBoard(form.board) : null;
  const kernelArgs = splitArguments(form.cmdline);
  const config = form.embeddedConfig.replace(/\r\n?/g, "\n");
  return {
    ...(board === null ? {} : { overlay: overlayOf(board, form.overlayOptions) }),
    customization: {
      ...(config.trim() === "" ? {} : { embeddedMachineConfiguration: config }),
      ...(kernelArgs.length === 0 ? {} : { extraKernelArgs: kernelArgs }),
      ...(form.extensions.length === 0 ? {} : { systemExtensions: { officialExtensions: form.extensions } }),
      ...(form.bootloader === "auto" ? {} : { bootloader: form.bootloader }),
    },
  };
}
