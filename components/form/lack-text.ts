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

type UnknownProblem = Extract<FormProblem, { kind: "unknown" }>;

function unknownText({ t }: Words, { field, about, since }: UnknownProblem, version: string): string {
  switch (field) {
    case "version":
      return t("problem.version", { about });
    case "extensions":
      return since
        ? t("problem.extension.since", { about, version, since })
        : t("problem.extension", { about, version });
    case "board":
      return about === "" ? t("problem.overlay") : t("problem.board", { about });
    case "enroll-keys":
      return t("problem.enroll", { about });
    case "sector-size":
      return t("problem.sector", { about });
    default:
      return t("problem.platform", { about });
  }
}

/** The sentence of a problem, to stand beside its field. */
export function problemText(words: Words, problem: FormProblem, version: string): string {
  const { t } = words;
  const { about } = problem;
  switch (problem.kind) {
    case "yaml":
      return t("problem.yaml", { detail: problem.detail });
    case "meta":
      return t(`problem.meta.${problem.fault}`, { about });
    case "document":
      return t(`problem.document.${problem.fault}`, { about });
    case "lack": {
      const reason = lackText(words, problem.lack);
      return t("problem.lack", { reason, about: about || t(`field.${problem.field}`) });
    }
    case "unknown":
      return unknownText(words, problem, version);
  }
}
