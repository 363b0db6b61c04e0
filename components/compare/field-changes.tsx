/** Fields of the two schematics that differ. */
import type { FieldChange } from "../../lib/domain/schematic-diff.ts";
import type { Words } from "../words/translator.ts";
import { ChangeBadge } from "./change-badge.tsx";

function Value({ words, field, side }: { words: Words; field: FieldChange; side: "before" | "after" }) {
  const lines = field.secretLines?.[side] ?? null;
  const text = lines === null ? field[side] : words.plural("compare.secret", lines);
  if (text === null) return <span className="text-soft max-md:hidden">–</span>;
  if (lines !== null) return <span className="text-soft">{text}</span>;
  const Tag = side === "before" ? "del" : "ins";
  return (
    <Tag className={`break-all font-mono text-xs ${side === "before" ? "text-soft" : "no-underline"}`}>
      {text}
    </Tag>
  );
}

export function FieldChanges({ words, fields }: { words: Words; fields: FieldChange[] }) {
  const { t } = words;
  const head = "px-3 pb-2 text-left font-semibold first:pl-0 last:pr-0";
  return (
    <table className="w-full table-fixed max-md:block">
      <thead className="eyebrow max-md:sr-only">
        <tr>
          <th scope="col" className={head}>
            {t("compare.field")}
          </th>
          <th scope="col" className={head}>
            {t("compare.before")}
          </th>
          <th scope="col" className={head}>
            {t("compare.after")}
          </th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {fields.map((field) => (
          <tr
            key={field.path}
            className="border-t border-line align-baseline text-sm max-md:flex max-md:flex-col max-md:gap-1 max-md:py-2.5"
          >
            <th scope="row" className="text-left font-normal md:px-3 md:py-2 md:pl-0">
              <span className="flex flex-wrap items-baseline gap-2">
                <span className="break-all font-mono text-xs">{field.path}</span>
                <ChangeBadge words={words} change={field.change} />
              </span>
            </th>
            <td className="md:px-3">
              <Value words={words} field={field} side="before" />
            </td>
            <td className="md:px-3 md:pr-0">
              <Value words={words} field={field} side="after" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
