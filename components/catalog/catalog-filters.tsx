/** What is shown of the catalog: the three lists, the search, the release. A plain form over the address. */
import {
  CATALOG_LISTS,
  type CatalogList,
  type CatalogQuery,
  writeCatalogQuery,
} from "../../lib/domain/catalog/catalog-query.ts";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  query: CatalogQuery;
  /** Entries of each list, before the search. */
  counts: Record<CatalogList, number>;
  /** Releases to choose from, newest first. */
  releases: string[];
}

/** The three lists, with how many each holds. */
function Lists({ words, query, counts }: Omit<Props, "releases">) {
  return (
    <nav aria-label={words.t("catalog.lists")} className="mt-5 flex gap-5 border-b border-line text-sm">
      {CATALOG_LISTS.map((list) => (
        <a
          key={list}
          href={writeCatalogQuery({ ...query, list, sort: "name", descending: false })}
          aria-current={list === query.list ? "page" : undefined}
          className={`pb-2 ${list === query.list ? "font-semibold shadow-[inset_0_-2px] shadow-accent" : "text-soft hover:text-ink"}`}
        >
          {words.t(`catalog.list.${list}`)}{" "}
          <span className="font-normal text-soft">{words.number(counts[list])}</span>
        </a>
      ))}
    </nav>
  );
}

function Search({ words, query, releases }: Omit<Props, "counts">) {
  const { t } = words;
  return (
    <search>
      <form method="get" action="/catalog" className="mt-4 flex flex-wrap items-end gap-3">
        {query.list !== "extensions" && <input type="hidden" name="list" value={query.list} />}
        {query.sort !== "name" && (
          <input type="hidden" name="sort" value={`${query.descending ? "-" : ""}${query.sort}`} />
        )}
        <label className="min-w-48 flex-1 sm:max-w-md">
          <span className="eyebrow">{t("catalog.search")}</span>
          <input
            type="search"
            name="q"
            className="input mt-1"
            defaultValue={query.search}
            placeholder={t("catalog.search.placeholder")}
            autoComplete="off"
          />
        </label>
        <label>
          <span className="eyebrow block">{t("catalog.talos")}</span>
          <select name="talos" className="input mt-1 w-auto" defaultValue={query.talos}>
            <option value="">{t("catalog.talos.any")}</option>
            {releases.map((version) => (
              <option key={version} value={version}>
                {version}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="button min-h-10">
          {t("catalog.show")}
        </button>
      </form>
    </search>
  );
}

export function CatalogFilters(props: Props) {
  return (
    <>
      <Lists {...props} />
      {props.query.list !== "releases" && <Search {...props} />}
    </>
  );
}
