"use client";
/** Shown when a page could not be made: what to do, and the number to give to the operator. */
import { useWords } from "../components/words/words-provider.tsx";

export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  const { t } = useWords();
  return (
    <div className="max-w-prose space-y-4 py-8">
      <h1 className="text-xl font-semibold tracking-tight">{t("error.title")}</h1>
      <p className="text-soft">{t("error.hint")}</p>
      {error.digest && <p className="code">{t("error.digest", { digest: error.digest })}</p>}
      <p className="flex gap-2">
        <button type="button" className="button button-primary" onClick={reset}>
          {t("error.retry")}
        </button>
        <a href="/" className="button">
          {t("nav.new")}
        </a>
      </p>
    </div>
  );
}
