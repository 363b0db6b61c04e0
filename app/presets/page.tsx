/** Presets: choices that people keep under a name; filtered by label through the address. */
import type { Metadata } from "next";
import { PresetProblemNotice } from "../../components/presets/preset-fields.tsx";
import { presetProblem } from "../../components/presets/preset-problem.ts";
import { PresetTable } from "../../components/presets/preset-table.tsx";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.presets") };
}

export default async function PresetsPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const label = query.get("label") ?? "";
  const problem = presetProblem(query);
  const presets = await pageContext().services.presets.list(label);
  return (
    <div className="max-w-4xl space-y-8">
      <header>
        <h1 className="text-xl font-semibold tracking-tight">{t("nav.presets")}</h1>
        <p className="mt-1 text-soft">{t("preset.lead")}</p>
      </header>
      {label !== "" && (
        <p className="flex flex-wrap items-center gap-3">
          {t("preset.filtered", { label })}
          <a href="/presets" className="button button-small">
            {t("preset.all")}
          </a>
        </p>
      )}
      {presets.length === 0 ? (
        <p className="border-t border-line py-6 text-soft">
          {t(label === "" ? "preset.empty" : "preset.none")}
        </p>
      ) : (
        <PresetTable words={words} presets={presets} />
      )}
      <details className="border-t border-line pt-6" open={problem !== null}>
        <summary className="font-semibold">{t("preset.import")}</summary>
        <form method="post" action="/presets/import" className="mt-4 space-y-3">
          <PresetProblemNotice words={words} problem={problem} />
          <label className="block">
            <span className="mb-1 block text-sm text-soft">{t("preset.import.hint")}</span>
            <textarea
              name="document"
              required
              rows={8}
              spellCheck={false}
              className="input font-mono text-sm"
            />
          </label>
          <button type="submit" className="button">
            {t("preset.import.do")}
          </button>
        </form>
      </details>
    </div>
  );
}
