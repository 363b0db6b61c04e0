"use client";
/** Beside the form on wide screens; on narrow ones a bar at the bottom that opens. */
import { type ReactNode, useState } from "react";
import { useWords } from "../words/words-provider.tsx";

interface Props {
  summary: string;
  problemCount: number;
  children: ReactNode;
}

export function CastingBar({ summary, problemCount, children }: Props) {
  const { t, plural } = useWords();
  const [open, setOpen] = useState(false);
  return (
    <>
      <aside
        id="casting"
        aria-label={t("casting.title")}
        className={`scroll-mt-4 border-t border-line py-6 lg:sticky lg:top-6 lg:max-h-[calc(100dvh-3rem)] lg:self-start lg:overflow-y-auto lg:rounded-md lg:border lg:bg-raised lg:p-6 ${
          open
            ? "max-lg:fixed max-lg:inset-x-0 max-lg:bottom-14 max-lg:z-10 max-lg:max-h-[75dvh] max-lg:overflow-y-auto max-lg:bg-raised max-lg:px-4"
            : ""
        }`}
      >
        {children}
      </aside>
      <div className="needs-script fixed inset-x-0 bottom-0 z-20 flex h-14 items-center gap-3 border-t border-line bg-raised px-4 lg:hidden">
        <button
          type="button"
          aria-expanded={open}
          aria-controls="casting"
          className="min-w-0 flex-1 text-left"
          onClick={() => setOpen((before) => !before)}
        >
          <span className="block truncate font-mono text-sm font-semibold">{summary}</span>
          <span className="block text-xs text-soft">
            {problemCount > 0
              ? plural("form.problems", problemCount)
              : open
                ? t("casting.close")
                : t("casting.open")}
          </span>
        </button>
        <button type="submit" name="intent" value="create" className="button button-primary">
          {t("form.create")}
        </button>
      </div>
    </>
  );
}
