/** All builds, newest first; filtered by state and paged by the address. */
import type { Metadata } from "next";
import { BuildTable } from "../../components/build/build-table.tsx";
import { Missing } from "../../components/page/missing.tsx";
import type { Words } from "../../components/words/translator.ts";
import { isBuildId } from "../../lib/domain/build-record.ts";
import { BUILD_STATES, type BuildState } from "../../lib/services/contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";

const PAGE_SIZE = 50;

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.builds") };
}

/** Leads to the builds of one state, and to all. */
function StateFilter({ words, state }: { words: Words; state: BuildState | undefined }) {
  return (
    <nav aria-label={words.t("builds.filter")} className="my-4 flex flex-wrap gap-2">
      {[undefined, ...BUILD_STATES].map((one) => (
        <a
          key={one ?? "all"}
          href={one ? `/builds?state=${one}` : "/builds"}
          aria-current={one === state ? "page" : undefined}
          className={`button button-small ${one === state ? "border-accent bg-accent-wash" : ""}`}
        >
          {one ? words.t(`state.${one}`) : words.t("builds.all")}
        </a>
      ))}
    </nav>
  );
}

export default async function BuildsPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const state = BUILD_STATES.find((known) => known === query.get("state"));
  const before = query.get("before") ?? "";
  const builds = await pageContext().services.builds.list({
    limit: PAGE_SIZE,
    ...(state ? { state } : {}),
    ...(isBuildId(before) ? { before } : {}),
  });
  if (builds.length === 0 && state === undefined && before === "") {
    return (
      <Missing
        title={t("builds.empty")}
        text={t("builds.empty.hint")}
        links={[{ href: "/", label: t("nav.new") }]}
      />
    );
  }
  const last = builds.length === PAGE_SIZE ? builds.at(-1)?.id : undefined;
  const older = new URLSearchParams({ ...(state ? { state } : {}), ...(last ? { before: last } : {}) });
  return (
    <>
      <h1 className="text-xl font-semibold tracking-tight">{t("nav.builds")}</h1>
      <StateFilter words={words} state={state} />
      {builds.length === 0 ? (
        <p className="border-t border-line py-8 text-soft">{t("builds.none")}</p>
      ) : (
        <BuildTable words={words} builds={builds} />
      )}
      {last && (
        <p className="mt-6">
          <a className="button" href={`/builds?${older}`}>
            {t("builds.older")}
          </a>
        </p>
      )}
    </>
  );
}
