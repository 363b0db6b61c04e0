/** The images of an entry, releases with the same one in one row. */
import type { ImageSpan } from "../../lib/domain/catalog/version-spans.ts";
import { CopyButton } from "../ui/copy-button.tsx";
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

export function ImageTable({ words, spans, insideHref, current }: Props) {
  const { t } = words;
  const head = "px-3 pb-2 text-left font-semibold first:pl-0 last:pr-0";
  const holds = ({ image }: ImageSpan) =>
    image.digest === spans.find((span) => span.image.talos === current)?.image.digest;
  return (
    <table className="w-full max-md:block">
      <thead className="eyebrow max-md:sr-only">
        <tr>
          <th scope="col" className={head}>
            Talos
          </th>
          <th scope="col" className={head}>
            {t("catalog.col.version")}
          </th>
          <th scope="col" className={head}>
            {t("entry.digest")}
          </th>
          <th scope="col" className={head}>
            <span className="sr-only">{t("entry.inside")}</span>
          </th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {spans.map((span) => (
          <tr
            key={span.to}
            className="border-t border-line align-middle text-sm max-md:grid max-md:grid-cols-[1fr_auto] max-md:gap-x-4 max-md:py-2.5"
          >
            <th scope="row" className="text-left font-normal md:px-3 md:py-2 md:pl-0">
              {spanText(words, span)}
            </th>
            <td className="break-all font-mono text-xs max-md:text-right md:px-3">{span.image.version}</td>
            <td className="max-md:order-3 md:px-3">
              <span
                className="inline-flex items-center gap-2 font-mono text-xs text-soft"
                title={span.image.digest}
              >
                {shortDigest(span.image.digest)}…
                <CopyButton text={span.image.digest} what={`${t("entry.digest")} ${span.image.version}`} />
              </span>
            </td>
            <td className="max-md:order-4 max-md:self-center md:px-3 md:pr-0 md:text-right">
              {holds(span) ? (
                <span className="text-soft">{t("entry.inside.shown")}</span>
              ) : (
                <a className="link" href={insideHref(span.image.talos)}>
                  {t("entry.inside.look")}
                  <span className="sr-only"> {span.image.version}</span>
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
