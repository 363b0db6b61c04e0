"use client";
/** Light, dark or as the system: a form that works without scripts and switches at once with them. */
import { useEffect, useState } from "react";
import { useWords } from "../words/words-provider.tsx";

type Theme = "light" | "dark" | null;

/** True when the page is dark now, whoever decided it. */
const isDark = (theme: Theme) =>
  theme === null ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";

export function ThemeSwitch({ theme: stored, back }: { theme: Theme; back: string }) {
  const { t } = useWords();
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    const root = document.documentElement;
    if (theme === null) delete root.dataset.theme;
    else root.dataset.theme = theme;
  }, [theme]);
  const next = (): "light" | "dark" => (isDark(theme) ? "light" : "dark");
  return (
    <form
      method="post"
      action="/theme"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = next();
        setTheme(wanted);
        const body = new URLSearchParams({ theme: wanted, back: "/" });
        void fetch("/theme", { method: "POST", body, redirect: "manual" });
      }}
    >
      <input type="hidden" name="back" value={back} />
      <button
        type="submit"
        name="theme"
        value={theme === "dark" ? "light" : "dark"}
        className="button button-small w-8 px-0"
        title={t("nav.theme")}
      >
        <svg viewBox="0 0 16 16" className="size-4" aria-hidden="true" fill="currentColor">
          <path d="M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.5v11a5.5 5.5 0 0 1 0-11Z" />
        </svg>
        <span className="sr-only">{t("nav.theme")}</span>
      </button>
    </form>
  );
}
