"use client";
/** Copies a text and says so, also on plain HTTP where the clipboard interface is missing. */
import { useEffect, useState } from "react";
import { useWords } from "../words/words-provider.tsx";

const SHOWN_MS = 2_000;

/** The old way: select a hidden field and copy it. */
function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

async function copyText(text: string): Promise<boolean> {
  if (!navigator.clipboard) return copyBySelection(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => copyBySelection(text),
  );
}

interface Props {
  text: string;
  /** What is copied, for people who do not see the place of the button. */
  what: string;
  /** Instead of the plain word on the button. */
  label?: string;
}

export function CopyButton({ text, what, label }: Props) {
  const { t } = useWords();
  const [result, setResult] = useState<"done" | "failed" | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  return (
    <button
      type="button"
      className={`button needs-script no-print ${label ? "" : "button-small min-w-16"}`}
      onClick={() => void copyText(text).then((done) => setResult(done ? "done" : "failed"))}
    >
      <span aria-live="polite">
        {result === "done" ? t("copy.done") : result === "failed" ? t("copy.failed") : (label ?? t("copy"))}
      </span>
      <span className="sr-only">{what}</span>
    </button>
  );
}
