/** The form for a stored schematic and a machine, and its address. */
import type { Schematic } from "../schematic-types.ts";
import { type Opened, writeForm } from "./form-address.ts";
import { shownForm } from "./form-schematic.ts";
import { type FormState, initialForm, settleForm } from "./form-state.ts";

export type FormTarget = Pick<FormState, "version" | "platform" | "arch" | "secureboot">;

/** The form that shows all a schematic says, for a machine. A schematic with an overlay is for a board. */
export function formOfSchematic(schematic: Schematic, target: FormTarget): FormState {
  const kind = target.platform === "metal" ? "metal" : "cloud";
  return settleForm(shownForm(schematic, { ...initialForm(target.version), ...target, target: kind }));
}

/** Address of the form with a stored schematic opened in it. */
export const openPath = (opened: Opened, target: FormTarget): string =>
  `/?${writeForm(formOfSchematic(opened.schematic, target), opened)}`;
