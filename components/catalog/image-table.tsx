/** The images of an entry, releases with the same one in one row. */
import type { ImageSpan } from "../../lib/domain/catalog/version-spans.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { FoldingTable } from "../ui/table.tsx";
import type { Words } from "../words/translator.ts";
import { spanText } from "./span-text.ts";

interface Props {
  words: Words;
  spans: ImageSpan[];
  /** Address of the page with the contents of this release's image. */
  insideHref: (talos: string) => string;
  /** The release whose image is shown below. */
  current: string;
}

/** "sha256:" and the first twelve digits, as registries show it. */
const shortDigest = (digest: string): string => digest.slice(0, "sha256:".length + 12);

interface RowProps {
  words: Words;
  span: ImageSpan;
  /** Null when the image is the one shown below. */
  insideHref: string | null;
}

function Row({ words, span, insideHref }: RowProps) {
  const { t } = words;
  const { version, digest } = span.image;
  return (
    <tr className="border-t border-line align-middle text-sm max-md:grid max-md:grid-cols-[1fr_auto] max-md:gap-x-4 max-md:py-2.5">
      <th scope="row" className="text-left font-normal md:px-3 md:py-2 md:pl-0">
        {spanText(words, span)}
      </th>
      <td className="break-all font-mono text-xs max-md:text-right md:px-3">{version}</td>
      <td className="max-md:order-3 md:px-3">
        <span className="inline-flex items-center gap-2 font-mono text-xs text-soft" title={digest}>
          {shortDigest(digest)}…
          <CopyButton text={digest} what={`${t("entry.digest")} ${version}`} />
        </span>
      </td>
      <td className="max-md:order-4 max-md:self-center md:px-3 md:pr-0 md:text-right">
        {insideHref === null ? (
          <span className="text-soft">{t("entry.inside.shown")}</span>
        ) : (
          <a className="link" href={insideHref}>
            {t("entry.inside.look")}
            <span className="sr-only"> {version}</span>
          </a>
        )}
      </td>
    </tr>
  );
}

export function ImageTable({ words, spans, insideHref, current }: Props) {
  const { t } = words;
  const shown = spans.find(({ image }) => image.talos === current)?.image.digest;
  const inside = (
    <span key="inside" className="sr-only">
      {t("entry.inside")}
    </span>
  );
  return (
    <FoldingTable columns={["Talos", t("catalog.col.version"), t("entry.digest"), inside]}>
      {spans.map((span) => (
        <Row
          key={span.to}
          words={words}
          span={span}
          insideHref={span.image.digest === shown ? null : insideHref(span.image.talos)}
        />
      ))}
    </FoldingTable>
  );
}
