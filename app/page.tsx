/** The form: what a person wants, and what will come of it. */
import { CastingForm } from "../components/form/casting-form.tsx";
import { Notice } from "../components/ui/notice.tsx";
import { readForm, settleForm } from "../lib/domain/form/form-state.ts";
import { isPrerelease } from "../lib/domain/versions.ts";
import { pageContext } from "../lib/services/current.ts";
import { type PageQuery, toQuery } from "./page-query.ts";
import { requestWords } from "./request-words.ts";

export default async function FormPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const { t } = await requestWords();
  const { releases } = pageContext().services;
  const versions = (await releases.summaries())
    .filter((release) => release.state === "complete")
    .map(({ version, sample }) => ({ version: version.replace(/^v/, ""), sample }));
  const newest = versions.find((item) => !isPrerelease(item.version)) ?? versions[0];
  const form = settleForm(readForm(query, newest?.version ?? ""));
  const offered = versions.some((item) => item.version === form.version);
  const extensions = offered ? await releases.extensions(form.version).catch(() => null) : null;
  return (
    <>
      <h1 className="text-xl font-semibold tracking-tight text-balance">{t("form.title")}</h1>
      <p className="mb-6 mt-1 max-w-prose text-soft">{t("form.lead")}</p>
      {versions.length === 0 ? (
        <Notice>{t("form.no-versions")}</Notice>
      ) : (
        <CastingForm
          initial={form}
          versions={versions}
          extensions={extensions}
          search={query.get("search") ?? ""}
          lostSecret={query.get("problem") === "embedded-config"}
        />
      )}
    </>
  );
}
