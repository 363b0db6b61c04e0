/** Words for why something cannot be chosen. */
import type { Lack } from "../../lib/domain/form/availability.ts";
import type { FormProblem } from "../../lib/domain/form/form-problems.ts";
import type { Words } from "../words/translator.ts";

/** A short reason, to stand beside the disabled choice. */
export function lackText({ t }: Words, lack: Lack): string {
  switch (lack.reason) {
    case "since":
      return t("lack.since", { version: lack.version });
    case "platform":
      return t("lack.platform");
    case "arch":
      return t("lack.arch");
    case "secureboot":
      return t("lack.secureboot");
    case "board":
      return t("lack.board");
  }
}

/** The sentence of a problem, to stand beside its field. */
export function problemText(words: Words, problem: FormProblem, version: string): string {
  const { t } = words;
  if (problem.kind === "yaml") return t("problem.yaml", { detail: problem.detail });
  if (problem.kind === "lack") {
    const reason = lackText(words, problem.lack);
    return t("problem.lack", { reason, about: problem.about || t(`field.${problem.field}`) });
  }
  const about = problem.about;
  switch (problem.field) {
    case "version":
      return t("problem.version", { about });
    case "extensions":
      return t("problem.extension", { about, version });
    case "board":
      return t("problem.board", { about });
    default:
      return t("problem.platform", { about });
  }
}
