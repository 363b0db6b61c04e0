/** Which releases have an entry: one row per minor line, one mark per release, told in words too. */
import type { MinorRow } from "../../lib/domain/catalog/version-spans.ts";
import type { Words } from "../words/translator.ts";

export function ReleaseGrid({ words, rows }: { words: Words; rows: MinorRow[] }) {
  const { t } = words;
  return (
    <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-1.5 text-sm">
      {rows.map(({ minor, cells }) => (
        <div key={minor} className="contents">
          <dt className="text-soft">{minor}</dt>
          <dd className="flex flex-wrap gap-1.5">
            {cells.map(({ version, has }) => (
              <span
                key={version}
                className={`inline-flex min-w-7 items-center justify-center rounded-md border px-1.5 font-mono text-xs ${has ? "border-accent/50 bg-accent-wash text-ink" : "border-dashed border-line text-soft line-through"}`}
              >
                <span aria-hidden="true">{version.slice(minor.length + "v.".length)}</span>
                <span className="sr-only">{t(has ? "entry.has" : "entry.lacks", { version })}</span>
              </span>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
