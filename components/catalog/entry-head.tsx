/** Top of an entry's page: what it is, who made it, and the way to use it. */
import type { CatalogEntry } from "../../lib/domain/catalog/catalog-index.ts";
import { OwnBadge } from "../own/own-badge.tsx";
import { Badge } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";
import { boardsOf } from "./entry-table.tsx";

/** The form with the newest release that has the entry, and the entry chosen; null when no board uses the overlay. */
function formHref(entry: CatalogEntry, board: string | undefined): string | null {
  const query = new URLSearchParams();
  if (entry.kind === "overlay") {
    if (board === undefined) return null;
    query.set("target", "sbc");
    query.set("board", board);
  }
  query.set("version", (entry.versions[0]?.talos ?? "").replace(/^v/, ""));
  if (entry.kind === "extension") query.set("extensions", entry.name);
  return `/?${query}`;
}

export function EntryHead({ words, entry, sample }: { words: Words; entry: CatalogEntry; sample: boolean }) {
  const { t } = words;
  const boards = boardsOf(entry);
  const href = formHref(entry, boards[0]?.name);
  const [newest] = entry.versions;
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
      <div className="min-w-0 max-w-3xl">
        <p className="eyebrow">
          <a href={entry.kind === "extension" ? "/catalog" : "/catalog?list=overlays"} className="link">
            {t("nav.catalog")}
          </a>{" "}
          / {t(`entry.kind.${entry.kind}`)}
        </p>
        <h1 className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold tracking-tight">
          <span className="break-all">{entry.title}</span>
          {entry.tier && <Badge>{entry.tier}</Badge>}
          <OwnBadge t={t} mark={newest?.own ?? null} />
          {sample && <Badge tone="warn">{t("sample.long")}</Badge>}
        </h1>
        <p className="mt-1 break-all font-mono text-xs text-soft">{newest?.ref}</p>
        {entry.description && <p className="mt-3 whitespace-pre-line">{entry.description}</p>}
        {boards.length > 0 && (
          <p className="mt-3">
            {t("entry.boards", { boards: boards.map((board) => board.label).join(", ") })}
          </p>
        )}
        <p className="mt-2 text-sm text-soft">
          {[
            ...(entry.author ? [t("entry.author", { author: entry.author })] : []),
            ...(entry.formerNames.length > 0
              ? [t("entry.former", { names: entry.formerNames.join(", ") })]
              : []),
          ].join(" ")}
        </p>
      </div>
      {href !== null && (
        <a href={href} className="button button-primary">
          {t("entry.use")}
        </a>
      )}
    </header>
  );
}
