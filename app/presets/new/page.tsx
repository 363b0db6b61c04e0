/** A name and labels for a choice, before it is kept. What is kept stands in the address. */
import type { Metadata } from "next";
import { PresetFields } from "../../../components/presets/preset-fields.tsx";
import { presetProblem } from "../../../components/presets/preset-problem.ts";
import { IdMark } from "../../../components/ui/id-mark.tsx";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";
import { KEPT_FIELDS } from "../preset-form.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("preset.new") };
}

export default async function NewPresetPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const kept = Object.fromEntries(
    KEPT_FIELDS.flatMap((field) => {
      const value = query.get(field) ?? "";
      return value === "" ? [] : [[field, value] as const];
    }),
  );
  const { schematic = "", secureboot, ...machine } = kept;
  const facts = [...Object.values(machine), ...(secureboot === "true" ? ["SecureBoot"] : [])];
  return (
    <div className="max-w-xl space-y-6">
      <header className="space-y-2">
        <h1 className="text-xl font-semibold tracking-tight">{t("preset.new")}</h1>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
          <IdMark id={schematic} />
          {facts.join(" · ")}
        </p>
      </header>
      <form method="post" action="/presets/save" className="space-y-5">
        <PresetFields
          words={words}
          problem={presetProblem(query)}
          name={query.get("name") ?? ""}
          labels={query.get("labels") ?? ""}
          kept={kept}
        />
        <button type="submit" className="button button-primary">
          {t("preset.save")}
        </button>
      </form>
    </div>
  );
}
