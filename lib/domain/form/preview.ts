/** What a choice will give, computed while it is made: text and ID of the schematic, file, command line. */
import { AppError } from "../../errors/app-error.ts";
import { parseAssetPath } from "../asset-path.ts";
import { composeCmdline } from "../cmdline.ts";
import { canonicalSchematic } from "../schematic-canonical.ts";
import { idOfText } from "../schematic-id.ts";
import { downloadsFor, targetOf } from "./downloads.ts";
import { formSchematic, splitArguments } from "./form-schematic.ts";
import type { FormState } from "./form-state.ts";

export interface Preview {
  /** Canonical YAML; null while a field cannot be read. */
  yaml: string | null;
  id: string | null;
  /** Name of the file this machine boots from, or the PXE name when it boots over the network alone. */
  file: string;
  /** Without what a board's overlay adds; null when the platform is unknown. */
  cmdline: string | null;
}

const orNull = <T>(work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
};

/** The preview of a choice. Pure, runs in the browser. */
export function previewForm(form: FormState): Preview {
  const target = targetOf(form);
  const { first, pxe } = downloadsFor(target);
  const name = `${target.platform}-${target.arch}${target.secureboot ? "-secureboot" : ""}`;
  const file = first[0]?.path ?? pxe ?? name;
  const yaml = orNull(() => canonicalSchematic(formSchematic(form)));
  return {
    yaml,
    id: yaml === null ? null : idOfText(yaml),
    file,
    cmdline: orNull(() => {
      const profile = parseAssetPath(first[0]?.path ?? `cmdline-${name}`);
      const version = `v${form.version}`;
      return composeCmdline({ version, profile, meta: [], extraKernelArgs: splitArguments(form.cmdline) });
    }),
  };
}
