/** Extensions or overlays as a table that sorts by its address and folds on narrow screens. */

import { BOARDS } from "../../lib/domain/boards.ts";
import type { CatalogEntry } from "../../lib/domain/catalog/catalog-index.ts";
import {
  type CatalogQuery,
  type CatalogSort,
  entryPath,
  versionFor,
  writeCatalogQuery,
} from "../../lib/domain/catalog/catalog-query.ts";
import { versionSpans } from "../../lib/domain/catalog/version-spans.ts";
import { OwnBadge } from "../own/own-badge.tsx";
import { HEAD_CELL } from "../ui/table.tsx";
import type { Words } from "../words/translator.ts";
import { spansText } from "./span-text.ts";

interface Props {
  words: Words;
  query: CatalogQuery;
  entries: CatalogEntry[];
  /** Releases that were read, newest first. */
  releases: string[];
}

const HEAD = `${HEAD_CELL} text-left`;

function SortHead({ words, query, sort }: Pick<Props, "words" | "query"> & { sort: CatalogSort }) {
  const here = query.sort === sort;
  const descending = here ? !query.descending : sort === "talos";
  return (
    <th
      scope="col"
      className={HEAD}
      aria-sort={here ? (query.descending ? "descending" : "ascending") : undefined}
    >
      <a href={writeCatalogQuery(query, { sort, descending })} className="hover:text-ink hover:underline">
        {words.t(`catalog.col.${sort}`)}
        <span aria-hidden="true">{here ? (query.descending ? " ↓" : " ↑") : ""}</span>
      </a>
    </th>
  );
}

/** Boards that start with an overlay, as its purpose; overlays say nothing of themselves. */
export const boardsOf = (entry: CatalogEntry) =>
  entry.kind === "overlay" ? BOARDS.filter((board) => board.overlayName === entry.name) : [];

function Row({ words, query, entry, releases }: Omit<Props, "entries"> & { entry: CatalogEntry }) {
  const shown = versionFor(entry, query.talos);
  const spans = versionSpans(
    releases,
    entry.versions.map((version) => version.talos),
  );
  const purpose =
    entry.description ||
    boardsOf(entry)
      .map((board) => board.label)
      .join(", ");
  return (
    <tr className="border-t border-line align-baseline max-md:grid max-md:grid-cols-[1fr_auto] max-md:gap-x-4 max-md:gap-y-0.5 max-md:py-3 md:hover:bg-accent-wash">
      <td className="md:px-3 md:py-2.5 md:pl-0">
        <a href={entryPath(entry)} className="link break-words text-sm font-medium">
          {entry.title}
        </a>
        <span className="ml-2 text-xs text-soft">
          {[entry.namespace, entry.tier].filter((text) => text !== "").join(" · ")}
        </span>{" "}
        <OwnBadge t={words.t} mark={shown?.own ?? null} />
      </td>
      <td className="max-w-xl text-sm text-soft max-md:order-3 max-md:col-span-2 md:px-3 md:py-2.5">
        <span className="line-clamp-2">{purpose}</span>
      </td>
      <td className="break-all font-mono text-xs max-md:order-2 max-md:text-right md:px-3 md:py-2.5">
        {shown?.version}
      </td>
      <td className="text-xs text-soft max-md:order-4 max-md:col-span-2 md:whitespace-nowrap md:px-3 md:pr-0">
        {spansText(words, spans, releases)}
      </td>
    </tr>
  );
}

export function EntryTable({ words, query, entries, releases }: Props) {
  return (
    <table className="mt-6 w-full max-md:block">
      <thead className="eyebrow max-md:block max-md:border-b max-md:border-line max-md:pb-2">
        <tr className="max-md:flex max-md:gap-4 max-md:[&>th]:p-0">
          <SortHead words={words} query={query} sort="name" />
          <th scope="col" className={`${HEAD} max-md:sr-only`}>
            {words.t("catalog.col.purpose")}
          </th>
          <SortHead words={words} query={query} sort="version" />
          <SortHead words={words} query={query} sort="talos" />
        </tr>
      </thead>
      <tbody className="max-md:block">
        {entries.map((entry) => (
          <Row key={entry.name} words={words} query={query} entry={entry} releases={releases} />
        ))}
      </tbody>
    </table>
  );
}
