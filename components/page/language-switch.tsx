"use client";
/** Leads to the same page in the other language; a plain form, told the live address where scripts run. */
import type { Language } from "../words/translator.ts";
import { useWords } from "../words/words-provider.tsx";

const NAMES: Record<Language, string> = { en: "English", fr: "Français" };

export function LanguageSwitch({ back }: { back: string }) {
  const { language } = useWords();
  const other: Language = language === "en" ? "fr" : "en";
  return (
    <form
      method="post"
      action="/language"
      onSubmit={(event) => {
        const field = event.currentTarget.elements.namedItem("back");
        if (field instanceof HTMLInputElement) field.value = location.pathname + location.search;
      }}
    >
      <input type="hidden" name="back" defaultValue={back} />
      <button type="submit" name="lang" value={other} lang={other} className="button button-small">
        {NAMES[other]}
      </button>
    </form>
  );
}
