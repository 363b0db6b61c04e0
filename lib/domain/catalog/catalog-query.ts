/** What the address of the catalog asks for: which list, which words, which release, which order. */
import { matchesSearch } from "../extension-text.ts";
import { compareVersions } from "../versions.ts";
import type { CatalogEntry, CatalogIndex } from "./catalog-index.ts";

export const CATALOG_LISTS = ["extensions", "overlays", "releases"] as const;
export type CatalogList = (typeof CATALOG_LISTS)[number];

const CATALOG_SORTS = ["name", "version", "talos"] as const;
/** name; version: of the image; talos: newest release that has it, then name. */
export type CatalogSort = (typeof CATALOG_SORTS)[number];

export interface CatalogQuery {
  list: CatalogList;
  /** Words that must all be found. */
  search: string;
  /** Tag of a release that must have it; empty for any. */
  talos: string;
  sort: CatalogSort;
  descending: boolean;
}

const LONGEST_SEARCH = 200;

/** Reads an address; what it does not know gets its default. */
export function readCatalogQuery(query: URLSearchParams): CatalogQuery {
  const sort = query.get("sort") ?? "";
  return {
    list: CATALOG_LISTS.find((one) => one === query.get("list")) ?? "extensions",
    search: (query.get("q") ?? "").trim().slice(0, LONGEST_SEARCH),
    talos: (query.get("talos") ?? "").trim().replace(/^(?=\d)/, "v"),
    sort: CATALOG_SORTS.find((one) => one === sort.replace(/^-/, "")) ?? "name",
    descending: sort.startsWith("-"),
  };
}

/** The address that readCatalogQuery turns back into this, with changes; defaults are left out. */
export function writeCatalogQuery(query: CatalogQuery, changes: Partial<CatalogQuery> = {}): string {
  const { list, search, talos, sort, descending } = { ...query, ...changes };
  const text = new URLSearchParams();
  if (list !== "extensions") text.set("list", list);
  if (search !== "") text.set("q", search);
  if (talos !== "") text.set("talos", talos);
  if (sort !== "name" || descending) text.set("sort", `${descending ? "-" : ""}${sort}`);
  const written = text.toString();
  return written === "" ? "/catalog" : `/catalog?${written}`;
}

/** What an entry offers to a query: the version of the asked release, else its newest. */
export const versionFor = (entry: CatalogEntry, talos: string) =>
  talos === "" ? entry.versions[0] : entry.versions.find((version) => version.talos === talos);

const collator = new Intl.Collator("en", { numeric: true });

const ORDERS: Record<CatalogSort, (talos: string) => (a: CatalogEntry, b: CatalogEntry) => number> = {
  name: () => (a, b) => collator.compare(a.title, b.title),
  version: (talos) => (a, b) =>
    collator.compare(plainTag(versionFor(a, talos)?.version), plainTag(versionFor(b, talos)?.version)),
  talos: () => (a, b) => compareVersions(a.versions[0]?.talos ?? "", b.versions[0]?.talos ?? ""),
};

const plainTag = (tag: string | undefined): string => (tag ?? "").replace(/^v(?=\d)/, "");

const searchable = (entry: CatalogEntry) => ({
  name: [entry.name, entry.namespace, ...entry.formerNames].join(" "),
  title: entry.title,
  vendor: entry.author,
  version: entry.versions[0]?.version ?? "",
  tier: entry.tier,
  description: `${entry.description} ${entry.author}`,
});

/** The entries of one list that fit, in the asked order; equal ones by name. */
export function selectEntries(index: CatalogIndex, query: CatalogQuery): CatalogEntry[] {
  const kind = query.list === "overlays" ? "overlay" : "extension";
  const order = ORDERS[query.sort](query.talos);
  const direction = query.descending ? -1 : 1;
  return index.entries
    .filter((entry) => entry.kind === kind)
    .filter((entry) => query.talos === "" || versionFor(entry, query.talos) !== undefined)
    .filter((entry) => matchesSearch(searchable(entry), query.search))
    .sort((a, b) => direction * order(a, b) || (a.name < b.name ? -1 : 1));
}

/** Address of an entry's page. */
export function entryPath(entry: Pick<CatalogEntry, "kind" | "name">): string {
  if (entry.kind === "overlay") return `/catalog/overlays/${encodeURIComponent(entry.name)}`;
  const slash = entry.name.lastIndexOf("/");
  const namespace = slash < 0 ? "-" : entry.name.slice(0, slash);
  return `/catalog/extensions/${encodeURIComponent(namespace)}/${encodeURIComponent(entry.name.slice(slash + 1))}`;
}

/** The name that entryPath wrote into two segments. */
export const nameOfSegments = (namespace: string, name: string): string =>
  namespace === "-" ? name : `${namespace}/${name}`;
