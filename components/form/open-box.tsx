"use client";
/** Opens what exists: an ID, an address, an installer reference or YAML, pasted into one field. */
import { useWords } from "../words/words-provider.tsx";

/** `text`: what was pasted before, to be mended. `primary`: opening is what the page is for. */
export function OpenForm({ text = "", primary = false }: { text?: string; primary?: boolean }) {
  const { t } = useWords();
  return (
    <form method="post" action="/open/read" className="max-w-2xl space-y-3">
      <label htmlFor="open-what" className="block text-sm text-soft">
        {t("open.hint")}
      </label>
      <textarea
        id="open-what"
        name="what"
        rows={text.includes("\n") ? 10 : 3}
        required
        className="input block font-mono text-sm"
        defaultValue={text}
        placeholder="factory.example/metal-installer/376567988ad3…:v1.13.2"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
      />
      <button type="submit" className={`button ${primary ? "button-primary" : ""}`}>
        {t("open.button")}
      </button>
    </form>
  );
}

/** The same behind one line, for the page where most people want something new. */
export function OpenBox() {
  const { t } = useWords();
  return (
    <details>
      <summary className="text-sm font-medium">{t("open.title")}</summary>
      <div className="mt-3">
        <OpenForm />
      </div>
    </details>
  );
}
