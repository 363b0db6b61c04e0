/** The way back: the form that describes a stored schematic, where there is one that loses nothing. */
import { findBoardByOverlay } from "../boards.ts";
import { canonicalSchematic } from "../schematic-canonical.ts";
import type { Schematic } from "../schematic-types.ts";
import { formSchematic } from "./form-schematic.ts";
import { type FormState, initialForm, settleForm } from "./form-state.ts";

export type FormTarget = Pick<FormState, "version" | "platform" | "arch" | "secureboot">;

/**
 * The form for a schematic and a target; null when the form cannot say all of it (META, overlay options, an embedded
 * configuration, another order of extensions, …) and would therefore give another ID.
 */
export function formOfSchematic(schematic: Schematic, target: FormTarget): FormState | null {
  const { customization, overlay } = schematic;
  const board = overlay ? findBoardByOverlay(overlay) : null;
  const form = settleForm({
    ...initialForm(target.version),
    ...target,
    target: board ? "sbc" : target.platform === "metal" ? "metal" : "cloud",
    board: board?.name ?? "",
    extensions: customization.systemExtensions?.officialExtensions ?? [],
    cmdline: (customization.extraKernelArgs ?? []).join(" "),
    bootloader: customization.bootloader ?? "auto",
  });
  return canonicalSchematic(formSchematic(form)) === canonicalSchematic(schematic) ? form : null;
}
