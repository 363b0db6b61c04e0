/** Extensions and overlays that differ: name, kind of change, versions. */
import { entryPath } from "../../lib/domain/catalog/catalog-query.ts";
import type { ExtensionImage } from "../../lib/domain/schematic-diff.ts";
import type { Words } from "../words/translator.ts";
import { ChangeBadge, type ChangeKind } from "./change-badge.tsx";
import { ImageChange } from "./image-change.tsx";

export interface EntryChange {
  kind: "extension" | "overlay";
  name: string;
  change: ChangeKind;
  before: ExtensionImage | null;
  after: ExtensionImage | null;
  /** More about the change, for example the places of one that moved. */
  note: string;
}

export function EntryChanges({ words, changes }: { words: Words; changes: EntryChange[] }) {
  return (
    <ul className="divide-y divide-line border-y border-line">
      {changes.map(({ kind, name, change, before, after, note }) => (
        <li
          key={`${kind} ${name}`}
          className="grid grid-cols-[1fr_auto] items-baseline gap-x-4 gap-y-0.5 py-2 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,18rem)_8rem]"
        >
          <span className="min-w-0">
            {before === null && after === null ? (
              <span className="break-all">{name}</span>
            ) : (
              <a className="link break-all" href={entryPath({ kind, name: (after ?? before)?.name ?? name })}>
                {name}
              </a>
            )}
            {note !== "" && <span className="ml-2 text-xs text-soft">{note}</span>}
          </span>
          <span className="break-all font-mono text-xs max-md:order-3 max-md:col-span-2">
            <ImageChange words={words} before={before} after={after} />
          </span>
          <span className="text-right">
            <ChangeBadge words={words} change={change} />
          </span>
        </li>
      ))}
    </ul>
  );
}
