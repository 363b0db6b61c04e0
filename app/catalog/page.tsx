/** What the source offers over all its releases: extensions, board overlays, the releases themselves. */
import type { Metadata } from "next";
import { CatalogFilters } from "../../components/catalog/catalog-filters.tsx";
import { EntryTable } from "../../components/catalog/entry-table.tsx";
import { ReleaseTable } from "../../components/catalog/release-table.tsx";
import {
  readCatalogQuery,
  selectEntries,
  writeCatalogQuery,
} from "../../lib/domain/catalog/catalog-query.ts";
import type { CatalogView } from "../../lib/services/catalog/contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { unlessAway } from "../unless-away.ts";

const NOTHING: CatalogView = { releases: [], entries: [], unread: [] };

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.catalog") };
}

export default async function CatalogPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = readCatalogQuery(toQuery(await searchParams));
  const words = await requestWords();
  const { t } = words;
  const { catalog, releases } = pageContext().services;
  const index = await unlessAway(catalog.index(), NOTHING);
  const summaries = await unlessAway(releases.summaries(), []);
  const entries = selectEntries(index, query);
  const ofKind = (kind: "extension" | "overlay") =>
    index.entries.filter((entry) => entry.kind === kind).length;
  const counts = { extensions: ofKind("extension"), overlays: ofKind("overlay"), releases: summaries.length };
  const narrowed = query.search !== "" || query.talos !== "";
  const everything = writeCatalogQuery({ ...query, search: "", talos: "" });
  return (
    <>
      <h1 className="text-xl font-semibold tracking-tight">{t("nav.catalog")}</h1>
      <p className="mt-1 max-w-prose text-soft">
        {t("catalog.lead")}{" "}
        <a className="link" href="/compare">
          {t("catalog.to-compare")}
        </a>
      </p>
      <CatalogFilters words={words} query={query} counts={counts} releases={index.releases} />
      {index.unread.length > 0 && (
        <p className="mt-4 text-sm text-soft">{words.plural("catalog.unread", index.unread.length)}</p>
      )}
      {query.list === "releases" && <ReleaseTable words={words} releases={summaries} unread={index.unread} />}
      {query.list !== "releases" && narrowed && (
        <p className="mt-4 text-sm text-soft" role="status">
          {words.plural("catalog.found", entries.length)}{" "}
          <a className="link" href={everything}>
            {t("catalog.show-all")}
          </a>
        </p>
      )}
      {query.list !== "releases" && entries.length > 0 && (
        <EntryTable words={words} query={query} entries={entries} releases={index.releases} />
      )}
      {query.list !== "releases" && entries.length === 0 && !narrowed && (
        <p className="mt-6 border-t border-line py-8 text-soft">{t("catalog.empty")}</p>
      )}
    </>
  );
}
