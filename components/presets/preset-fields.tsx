/** The fields of a preset: its name and labels, and what it keeps, as hidden fields. */
import { Notice } from "../ui/notice.tsx";
import type { MessageKey, Words } from "../words/translator.ts";
import type { PresetProblem } from "./preset-problem.ts";

const PROBLEM_WORDS: Record<PresetProblem, MessageKey> = {
  name: "preset.problem.name",
  taken: "preset.problem.taken",
  labels: "preset.problem.labels",
  secret: "preset.problem.secret",
  unknown: "preset.problem.unknown",
  document: "preset.problem.document",
  many: "preset.problem.many",
};

interface Props {
  words: Words;
  problem: PresetProblem | null;
  name: string;
  labels: string;
  /** Fields that travel along unchanged. */
  kept: Record<string, string>;
}

export function PresetProblemNotice({ words, problem }: { words: Words; problem: PresetProblem | null }) {
  if (problem === null) return null;
  return (
    <div role="alert">
      <Notice tone="bad" id="preset-problem">
        {words.t(PROBLEM_WORDS[problem])}
      </Notice>
    </div>
  );
}

export function PresetFields({ words, problem, name, labels, kept }: Props) {
  const { t } = words;
  const wrong = (field: boolean) => ({
    "aria-invalid": field || undefined,
    "aria-describedby": field ? "preset-problem" : undefined,
  });
  return (
    <>
      {Object.entries(kept).map(([field, value]) => (
        <input key={field} type="hidden" name={field} value={value} />
      ))}
      <PresetProblemNotice words={words} problem={problem} />
      <label className="block">
        <span className="mb-1 block font-medium">{t("preset.name")}</span>
        <input
          name="name"
          required
          maxLength={80}
          defaultValue={name}
          autoComplete="off"
          className="input"
          {...wrong(problem === "name" || problem === "taken")}
        />
      </label>
      <label className="block">
        <span className="mb-1 block font-medium">{t("preset.labels")}</span>
        <input
          name="labels"
          defaultValue={labels}
          autoComplete="off"
          className="input"
          {...wrong(problem === "labels")}
        />
        <span className="mt-1 block text-sm text-soft">{t("preset.labels.hint")}</span>
      </label>
    </>
  );
}
