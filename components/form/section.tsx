"use client";
/** One decision of the form: its name on the left, its controls on the right, what is wrong with it below. */
import { type ReactNode, useState } from "react";
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

const GRID = "gap-x-8 gap-y-3 md:grid-cols-[10rem_minmax(0,1fr)]";

export function Section({ id, title, help, group = true, children }: SectionProps) {
  return (
    <section
      id={id}
      tabIndex={-1}
      className={`grid scroll-mt-4 border-t border-line py-6 outline-none target:border-accent ${GRID}`}
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

interface FoldedProps {
  id: string;
  title: string;
  /** What is chosen inside, so that nobody has to open it to know. */
  state: string;
  /** True: open from the start. */
  open: boolean;
  children: ReactNode;
}

/** A decision that few people make. It is open from the start when something is chosen in it. */
export function FoldedSection({ id, title, state, open, children }: FoldedProps) {
  const [atStart] = useState(open);
  return (
    // No tabIndex here: browsers pass over everything inside of a details element that has a negative one.
    <details id={id} className="group scroll-mt-4 border-t border-line" open={atStart}>
      <summary className="flex flex-wrap items-baseline gap-y-1 py-4">
        <h2 className="flex-none pr-4 font-semibold md:w-[10.95rem]">{title}</h2>
        <span className="text-sm text-soft">{state}</span>
      </summary>
      <div className={`grid pb-6 ${GRID}`}>
        <div className="flex min-w-0 flex-col gap-4 md:col-start-2">{children}</div>
      </div>
    </details>
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
    <div
      id={id}
      tabIndex={-1}
      className="space-y-1 border-l-2 border-bad bg-bad-wash px-3 py-2 text-sm text-bad"
    >
      {problems.map((problem, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two fields may have the same problem
        <p key={index} className="break-words">
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
