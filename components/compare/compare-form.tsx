/** The two sides to compare, as a form over the address. */
import type { MachineTarget } from "../../lib/domain/machine-target.ts";
import type { Words } from "../words/translator.ts";
import { MachineFields } from "./machine-fields.tsx";

interface Props {
  words: Words;
  /** What was written for each side. */
  before: string;
  after: string;
  /** Sides whose text names nothing. */
  wrong: { before: boolean; after: boolean };
  /** Versions to pick from, newest first. */
  versions: string[];
  target: MachineTarget;
}

interface SideProps {
  words: Words;
  name: "a" | "b";
  label: string;
  text: string;
  wrong: boolean;
}

function SideField({ words, name, label, text, wrong }: SideProps) {
  const { t } = words;
  return (
    <div className="min-w-0">
      <label className="eyebrow" htmlFor={`side-${name}`}>
        {label}
      </label>
      <input
        id={`side-${name}`}
        name={name}
        className="input mt-1 font-mono text-xs"
        defaultValue={text}
        list="versions"
        required
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? `side-${name}-wrong` : "side-hint"}
      />
      {wrong && (
        <p id={`side-${name}-wrong`} className="mt-1 text-sm text-bad">
          {t("compare.wrong")}
        </p>
      )}
    </div>
  );
}

export function CompareForm({ words, before, after, wrong, versions, target }: Props) {
  const { t } = words;
  return (
    <form method="get" action="/compare" className="space-y-4">
      <div className="grid gap-4 md:grid-cols-2">
        <SideField words={words} name="a" label={t("compare.before")} text={before} wrong={wrong.before} />
        <SideField words={words} name="b" label={t("compare.after")} text={after} wrong={wrong.after} />
      </div>
      <p id="side-hint" className="max-w-prose text-sm text-soft">
        {t("compare.hint")}
      </p>
      <datalist id="versions">
        {versions.map((version) => (
          <option key={version} value={version} />
        ))}
      </datalist>
      <div className="flex flex-wrap items-end gap-4">
        <MachineFields words={words} target={target} />
        <button type="submit" className="button button-primary min-h-10">
          {t("compare.show")}
        </button>
      </div>
    </form>
  );
}
