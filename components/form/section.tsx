"use client";
/** One decision of the form: its name on the left, its controls on the right, what is wrong with it below. */
import type { ReactNode } from "react";
import type { FormProblem } from "../../lib/domain/form/form-problems.ts";
import { useWords } from "../words/words-provider.tsx";
import { problemText } from "./lack-text.ts";

interface SectionProps {
  id: string;
  title: string;
  help?: string;
  /** True: the controls form one group that the title names. */
  group?: boolean;
  children: ReactNode;
}

export function Section({ id, title, help, group = true, children }: SectionProps) {
  return (
    <section
      id={id}
      className="grid scroll-mt-4 gap-x-8 gap-y-3 border-t border-line py-6 md:grid-cols-[10rem_minmax(0,1fr)]"
    >
      <div>
        <h2 id={`${id}-title`} className="font-semibold">
          {title}
        </h2>
        {help && (
          <p id={`${id}-help`} className="mt-1 text-sm text-soft">
            {help}
          </p>
        )}
      </div>
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role is set whenever the label is */}
      <div
        className="flex min-w-0 flex-col gap-3"
        role={group ? "group" : undefined}
        aria-labelledby={group ? `${id}-title` : undefined}
      >
        {children}
      </div>
    </section>
  );
}

interface ProblemsProps {
  /** ID of the paragraph, for aria-describedby. */
  id: string;
  problems: FormProblem[];
  version: string;
}

export function Problems({ id, problems, version }: ProblemsProps) {
  const words = useWords();
  if (problems.length === 0) return null;
  return (
    <div id={id} className="space-y-1 border-l-2 border-bad bg-bad-wash px-3 py-2 text-sm text-bad">
      {problems.map((problem) => (
        <p key={`${problem.kind}-${problem.about}`} className="break-words">
          {problemText(words, problem, version)}
        </p>
      ))}
    </div>
  );
}

/** Without scripts a choice that changes later steps is taken over by a button. */
export function ApplyButton() {
  const { t } = useWords();
  return (
    <button type="submit" name="intent" value="apply" className="button without-script self-start">
      {t("form.apply")}
    </button>
  );
}
