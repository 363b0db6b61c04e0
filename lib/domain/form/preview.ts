/** What a choice will give, computed while it is made: text and ID of the schematic, file, command line. */
import { orNull } from "../../errors/or-null.ts";
import { parseAssetPath } from "../asset-path.ts";
import { composeCmdline } from "../cmdline.ts";
import { canonicalSchematic } from "../schematic-canonical.ts";
import { idOfText } from "../schematic-id.ts";
import type { Schematic } from "../schematic-types.ts";
import { splitArguments } from "./argument-text.ts";
import { downloadsFor, targetOf } from "./downloads.ts";
import { formSchematic } from "./form-schematic.ts";
import type { FormState } from "./form-state.ts";
import { metaValues } from "./meta-fields.ts";

export interface Preview {
  /** Null while a field cannot be read. */
  schematic: Schematic | null;
  /** Canonical YAML. */
  yaml: string | null;
  id: string | null;
  /** Name of the file this machine boots from, or the PXE name when it boots over the network alone. */
  file: string;
  /** Without what a board's overlay adds; null when the platform is unknown or a META value would be damaged. */
  cmdline: string | null;
  /** The same without the arguments and META values of the choice. */
  plainCmdline: string | null;
}

interface LineInput {
  meta: { key: number; value: string }[];
  extraKernelArgs: string[];
}

/** The preview of a choice, over the schematic it was opened from. Pure, runs in the browser. */
export function previewForm(form: FormState, opened: Schematic | null = null): Preview {
  const target = targetOf(form);
  const { first, pxe } = downloadsFor(target);
  const name = `${target.platform}-${target.arch}${target.secureboot ? "-secureboot" : ""}`;
  const path = first[0]?.path ?? `cmdline-${name}`;
  const version = `v${form.version}`;
  const line = (added: LineInput) =>
    orNull(() => composeCmdline({ version, profile: parseAssetPath(path), ...added }));
  const schematic = orNull(() => formSchematic(form, opened));
  const yaml = schematic && orNull(() => canonicalSchematic(schematic));
  return {
    schematic,
    yaml,
    id: yaml === null ? null : idOfText(yaml),
    file: first[0]?.path ?? pxe ?? name,
    cmdline: line({ meta: metaValues(form.meta) ?? [], extraKernelArgs: splitArguments(form.cmdline) }),
    plainCmdline: line({ meta: [], extraKernelArgs: [] }),
  };
}
