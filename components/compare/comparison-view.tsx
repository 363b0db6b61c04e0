/** The result of a comparison, part by part; parts without a difference are told in one line. */
import type { ReactNode } from "react";
import { isUnchanged } from "../../lib/domain/list-diff.ts";
import type { CatalogChange } from "../../lib/domain/release-diff.ts";
import type { ExtensionChange } from "../../lib/domain/schematic-diff.ts";
import type { Comparison } from "../../lib/services/catalog/contracts.ts";
import type { Words } from "../words/translator.ts";
import { LineDiff, WordDiff } from "./diff-view.tsx";
import { EntryChanges } from "./entry-changes.tsx";
import { FieldChanges } from "./field-changes.tsx";
import { SizeTable } from "./size-table.tsx";

interface PartProps {
  id: string;
  title: string;
  /** Beside the title. */
  note?: string;
  children: ReactNode;
}

function NotedPart({ id, title, note, children }: PartProps) {
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

interface PartView {
  key: string;
  title: string;
  note?: string;
  differs: boolean;
  view: ReactNode;
}

function extensionPart(words: Words, extensions: ExtensionChange[]): PartView {
  const changed = extensions.filter((extension) => extension.change !== "same");
  const same = extensions.length - changed.length;
  const changes = changed.map((one) => ({ ...one, kind: "extension" as const, note: noteOf(words, one) }));
  return {
    key: "extensions",
    title: words.t("extensions.title"),
    ...(same > 0 ? { note: words.plural("compare.same-extensions", same) } : {}),
    differs: changed.length > 0,
    view: <EntryChanges words={words} changes={changes} />,
  };
}

function catalogPart(words: Words, catalogs: CatalogChange[], folded: boolean): PartView {
  return {
    key: "catalogs",
    title: words.t("compare.catalogs"),
    ...(folded ? {} : { note: words.plural("compare.changes", catalogs.length) }),
    differs: catalogs.length > 0,
    view: <Catalogs words={words} catalogs={catalogs} folded={folded} />,
  };
}

/** All parts that two schematics can differ in; two releases without one have only a command line and catalogs. */
function partsOf(words: Words, { before, target, diff, catalogs }: Comparison): PartView[] {
  const { t } = words;
  const cmdline = {
    key: "cmdline",
    title: t("compare.cmdline"),
    note: `${target.platform}-${target.arch}${target.secureboot ? "-secureboot" : ""}`,
    differs: !isUnchanged(diff.commandLine),
    view: <WordDiff words={words} items={diff.commandLine} />,
  };
  if (before.id === null) return [cmdline, catalogPart(words, catalogs, false)];
  return [
    {
      key: "fields",
      title: t("compare.fields"),
      differs: diff.fields.length > 0,
      view: <FieldChanges words={words} fields={diff.fields} />,
    },
    extensionPart(words, diff.extensions),
    cmdline,
    {
      key: "text",
      title: t("compare.text"),
      differs: !isUnchanged(diff.text),
      view: <LineDiff words={words} items={diff.text} />,
    },
    catalogPart(words, catalogs, true),
  ];
}

export function ComparisonView({ words, comparison }: { words: Words; comparison: Comparison }) {
  const { t } = words;
  const { before, after, files } = comparison;
  const parts = partsOf(words, comparison);
  const differing = parts.filter((part) => part.differs);
  const equal = parts.filter((part) => !part.differs).map((part) => part.title);
  const nothing = differing.length === 0 && before.id === after.id && before.version === after.version;
  return (
    <div className="space-y-8">
      {differing.map(({ key, title, note, view }) => (
        <NotedPart key={key} id={key} title={title} {...(note ? { note } : {})}>
          {view}
        </NotedPart>
      ))}
      {files.length > 0 && (
        <NotedPart id="sizes" title={t("compare.sizes")}>
          <SizeTable words={words} files={files} />
        </NotedPart>
      )}
      {equal.length > 0 && (
        <p className="border-t border-line pt-6 text-soft">
          {nothing ? t("compare.nothing") : t("compare.equal", { parts: equal.join(", ") })}
        </p>
      )}
    </div>
  );
}
