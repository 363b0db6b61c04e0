/** Fields of the two schematics that differ. */
import type { FieldChange } from "../../lib/domain/schematic-diff.ts";
import { FoldingTable } from "../ui/table.tsx";
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

function Row({ words, field }: { words: Words; field: FieldChange }) {
  return (
    <tr className="border-t border-line align-baseline text-sm max-md:flex max-md:flex-col max-md:gap-1 max-md:py-2.5">
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
  );
}

export function FieldChanges({ words, fields }: { words: Words; fields: FieldChange[] }) {
  const { t } = words;
  return (
    <FoldingTable
      className="table-fixed"
      columns={[t("compare.field"), t("compare.before"), t("compare.after")]}
    >
      {fields.map((field) => (
        <Row key={field.path} words={words} field={field} />
      ))}
    </FoldingTable>
  );
}
