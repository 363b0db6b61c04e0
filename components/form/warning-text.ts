/** Words for what is unusual about a choice. */
import type { FormWarning } from "../../lib/domain/form/form-warnings.ts";
import type { Words } from "../words/translator.ts";

/** A name without the vendor in front. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** The sentence of a warning. */
export function warningText({ t }: Words, warning: FormWarning): string {
  switch (warning.kind) {
    case "conflict": {
      const [first, second] = warning.conflict.names;
      const reason = warning.conflict.reason;
      return t(`warning.conflict.${reason}`, { first: shortName(first), second: shortName(second) });
    }
    case "secrets":
      return t("warning.secrets", { paths: warning.paths.join(", ") });
    case "secureboot-unused":
      return t("warning.secureboot-unused");
    case "arguments-installer":
      return t("arguments.installer");
    default:
      return t(`warning.${warning.kind}`, { key: warning.key });
  }
}
