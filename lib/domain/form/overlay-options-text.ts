/** Overlay options as people type them: one YAML map. */
import { invalidInput } from "../../errors/app-error.ts";
import type { OptionValue } from "../schematic-types.ts";
import { Construction } from "../yaml/construct.ts";
import { optionMapReader } from "../yaml/construct-option.ts";
import { constructErrors } from "../yaml/failure.ts";
import { parseDocument } from "../yaml/parser.ts";

/** The options of a text; an empty text has none. invalid_input with the decoder's words when it is no YAML map. */
export function parseOverlayOptions(text: string): Map<string, OptionValue> {
  let options = new Map<string, OptionValue>();
  const root = parseDocument(text);
  if (root === null) return options;
  if (root.kind !== "mapping")
    throw invalidInput("overlay options are a map of names and values", {
      hint: "Write one option per line, for example: configTxtAppend: dtparam=audio=on",
    });
  const construction = new Construction();
  construction.construct(
    root,
    optionMapReader(construction, "map[string]interface {}", (value) => {
      options = value;
    }),
  );
  if (construction.errors.length > 0) throw constructErrors(construction.errors);
  return options;
}
