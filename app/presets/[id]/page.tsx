/** One preset: change its name and labels, or forget it. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { PresetFields } from "../../../components/presets/preset-fields.tsx";
import { presetProblem } from "../../../components/presets/preset-problem.ts";
import { IdMark } from "../../../components/ui/id-mark.tsx";
import { labelText, presetQuery } from "../../../lib/domain/preset.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<PageQuery>;
}

async function requirePreset(props: Props) {
  const { id } = await props.params;
  try {
    return await pageContext().services.presets.require(id);
  } catch (error) {
    if (isAppError(error) && error.code === "not_found") notFound();
    throw error;
  }
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  return { title: (await requirePreset(props)).name };
}

export default async function PresetPage(props: Props) {
  const preset = await requirePreset(props);
  const query = toQuery(await props.searchParams);
  const words = await requestWords();
  const { t } = words;
  const kept = { id: preset.id, schematic: preset.schematicId, ...Object.fromEntries(presetQuery(preset)) };
  return (
    <div className="max-w-xl space-y-8">
      <header className="space-y-2">
        <h1 className="break-words text-xl font-semibold tracking-tight">{preset.name}</h1>
        <IdMark id={preset.schematicId} />
      </header>
      <form method="post" action="/presets/save" className="space-y-5">
        <PresetFields
          words={words}
          problem={presetProblem(query)}
          name={query.get("name") ?? preset.name}
          labels={query.get("labels") ?? labelText(preset.labels)}
          kept={kept}
        />
        <button type="submit" className="button button-primary">
          {t("preset.save")}
        </button>
      </form>
      <form method="post" action={`/presets/${preset.id}/delete`} className="border-t border-line pt-6">
        <p className="mb-3 text-sm text-soft">{t("preset.delete.hint")}</p>
        <button type="submit" className="button">
          {t("preset.delete")}
        </button>
      </form>
    </div>
  );
}
