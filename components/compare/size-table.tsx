/** Sizes of files that are ready, drawn as bars so that they compare at a glance. */
import type { ComparedFile } from "../../lib/services/catalog/contracts.ts";
import { TableHead } from "../ui/table.tsx";
import type { Words } from "../words/translator.ts";

function Bar({ bytes, most, tone }: { bytes: number; most: number; tone: string }) {
  return (
    <span
      aria-hidden="true"
      className={`block h-[3px] rounded-full ${tone}`}
      style={{ width: `${Math.max(1, (bytes / most) * 100)}%` }}
    />
  );
}

export function SizeTable({ words, files }: { words: Words; files: ComparedFile[] }) {
  const { t } = words;
  const most = Math.max(1, ...files.flatMap(({ before, after }) => [before ?? 0, after ?? 0]));
  const size = (bytes: number | null) => (bytes === null ? t("compare.not-built") : words.size(bytes));
  const change = ({ before, after }: ComparedFile) => {
    if (before === null || after === null || before === after) return "";
    return `${after > before ? "+" : "−"}${words.size(Math.abs(after - before))}`;
  };
  return (
    <table className="w-full text-sm">
      <TableHead
        columns={[t("entry.file"), t("compare.before"), t("compare.after")]}
        align="text-right first:text-left"
      />
      <tbody>
        {files.map((file) => (
          <tr key={file.path} className="border-t border-line align-top">
            <th scope="row" className="py-2 pr-3 text-left font-normal">
              <span className="break-all font-mono text-xs">{file.path}</span>
              <span className="mt-1.5 block max-w-md space-y-1">
                <Bar bytes={file.before ?? 0} most={most} tone="bg-edge/60" />
                <Bar bytes={file.after ?? 0} most={most} tone="bg-accent/70" />
              </span>
            </th>
            <td className="whitespace-nowrap px-3 py-2 text-right">{size(file.before)}</td>
            <td className="whitespace-nowrap py-2 pl-3 text-right">
              {size(file.after)}
              <span className="block text-xs text-soft">{change(file)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
