/** How spans of releases are written. */
import type { VersionSpan } from "../../lib/domain/catalog/version-spans.ts";
import type { Words } from "../words/translator.ts";

/** More spans than this are told by their number. */
const SHOWN = 2;

/** "v1.9.5 to v1.13.2", or the one version. */
export const spanText = ({ t }: Words, { from, to }: VersionSpan): string =>
  from === to ? from : t("catalog.span", { from, to });

/** The newest spans in one line; "every version" where there is no gap. */
export function spansText(words: Words, spans: VersionSpan[], offered: readonly string[]): string {
  const [first] = spans;
  if (first && first.to === offered[0] && first.from === offered.at(-1)) return words.t("catalog.every");
  const shown = spans.slice(0, SHOWN).map((span) => spanText(words, span));
  const more = spans.length - shown.length;
  return [...shown, ...(more > 0 ? [words.plural("catalog.more-spans", more)] : [])].join(", ");
}
