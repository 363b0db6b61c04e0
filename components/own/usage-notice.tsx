/** Which schematics name something of a source. */
import type { RemovedSource } from "../../lib/services/own/contracts.ts";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

export function UsageNotice({ words, usage }: { words: Words; usage: RemovedSource }) {
  const { t, plural } = words;
  const { schematics, hidden } = usage;
  if (schematics.length === 0 && hidden === 0) return <p className="text-soft">{t("own.unused")}</p>;
  return (
    <div className="space-y-2">
      <ul className="flex flex-wrap gap-x-6 gap-y-2">
        {schematics.map((id) => (
          <li key={id}>
            <a href={`/schematics/${id}`} className="hover:underline">
              <IdMark id={id} />
            </a>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className="text-sm text-soft">{plural("own.hidden", hidden)}</p>}
    </div>
  );
}
