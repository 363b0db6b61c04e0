/** The result of a comparison, part by part; parts without a difference are told in one line. */
import type { ReactNode } from "react";
import { isUnchanged } from "../../lib/domain/list-diff.ts";
import type { CatalogChange } from "../../lib/domain/release-diff.ts";
import type { ExtensionChange } from "../../lib/domain/schematic-diff.ts";
import type { ComparedSide, Comparison } from "../../lib/services/catalog-contracts.ts";
import { Badge } from "../ui/badge.tsx";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";
import { LineDiff, WordDiff } from "./diff-view.tsx";
import { EntryChanges } from "./entry-changes.tsx";
import { FieldChanges } from "./field-changes.tsx";
import { SizeTable } from "./size-table.tsx";

export function SideName({ words, side }: { words: Words; side: ComparedSide }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
      {side.id !== null && (
        <a href={`/schematics/${side.id}?version=${side.version}`} className="link">
          <IdMark id={side.id} />
        </a>
      )}
      <span>Talos {side.version}</span>
      {side.sample && <Badge>{words.t("sample.short")}</Badge>}
    </span>
  );
}

function Part({
  id,
  title,
  note,
  children,
}: {
  id: string;
  title: string;
  note?: string;
  children: ReactNode;
}) {
  return (
    <section aria-labelledby={id} className="space-y-3 border-t border-line pt-6">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 id={id} className="text-lg font-semibold">
          {title}
        </h2>
        {note && <p className="text-sm text-soft">{note}</p>}
      </div>
      {children}
    </section>
  );
}

/** Where an extension that moved stands now. */
function noteOf({ t }: Words, { change, places }: ExtensionChange): string {
  if (change !== "moved") return "";
  return t("compare.places", { before: places.before ?? 0, after: places.after ?? 0 });
}

/** All that two catalogs do not share is much beside the few extensions of a schematic; there it is folded. */
function Catalogs({ words, catalogs, folded }: { words: Words; catalogs: CatalogChange[]; folded: boolean }) {
  const view = <EntryChanges words={words} changes={catalogs.map((one) => ({ ...one, note: "" }))} />;
  if (!folded) return view;
  return (
    <details>
      <summary className="text-sm font-medium">{words.plural("compare.changes", catalogs.length)}</summary>
      <div className="mt-3">{view}</div>
    </details>
  );
}

export function ComparisonView({ words, comparison }: { words: Words; comparison: Comparison }) {
  const { t } = words;
  const { before, after, target, diff, catalogs, files } = comparison;
  const changed = diff.extensions.filter((extension) => extension.change !== "same");
  const same = diff.extensions.length - changed.length;
  const parts: { key: string; title: string; note?: string; differs: boolean; view: ReactNode }[] = [
    {
      key: "fields",
      title: t("compare.fields"),
      differs: diff.fields.length > 0,
      view: <FieldChanges words={words} fields={diff.fields} />,
    },
    {
      key: "extensions",
      title: t("extensions.title"),
      ...(same > 0 ? { note: words.plural("compare.same-extensions", same) } : {}),
      differs: changed.length > 0,
      view: (
        <EntryChanges
          words={words}
          changes={changed.map((one) => ({ ...one, kind: "extension", note: noteOf(words, one) }))}
        />
      ),
    },
    {
      key: "cmdline",
      title: t("compare.cmdline"),
      note: `${target.platform}-${target.arch}${target.secureboot ? "-secureboot" : ""}`,
      differs: !isUnchanged(diff.commandLine),
      view: <WordDiff words={words} items={diff.commandLine} />,
    },
    {
      key: "text",
      title: t("compare.text"),
      differs: !isUnchanged(diff.text),
      view: <LineDiff words={words} items={diff.text} />,
    },
    {
      key: "catalogs",
      title: t("compare.catalogs"),
      ...(before.id === null ? { note: words.plural("compare.changes", catalogs.length) } : {}),
      differs: catalogs.length > 0,
      view: <Catalogs words={words} catalogs={catalogs} folded={before.id !== null} />,
    },
  ];
  const relevant = parts.filter(({ key }) => before.id !== null || key === "cmdline" || key === "catalogs");
  const equal = relevant.filter((part) => !part.differs).map((part) => part.title);
  return (
    <div className="space-y-8">
      {relevant
        .filter((part) => part.differs)
        .map(({ key, title, note, view }) => (
          <Part key={key} id={key} title={title} {...(note ? { note } : {})}>
            {view}
          </Part>
        ))}
      {files.length > 0 && (
        <Part id="sizes" title={t("compare.sizes")}>
          <SizeTable words={words} files={files} />
        </Part>
      )}
      {equal.length > 0 && (
        <p className="border-t border-line pt-6 text-soft">
          {equal.length === relevant.length && before.id === after.id && before.version === after.version
            ? t("compare.nothing")
            : t("compare.equal", { parts: equal.join(", ") })}
        </p>
      )}
    </div>
  );
}
