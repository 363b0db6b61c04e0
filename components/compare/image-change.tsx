/** From one image to the next, in as few words as tell them apart. */
import type { ExtensionImage } from "../../lib/domain/schematic-diff.ts";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  before: ExtensionImage | null;
  after: ExtensionImage | null;
}

const hex = (digest: string): string => digest.slice("sha256:".length, "sha256:".length + 8);

export function ImageChange({ words, before, after }: Props) {
  const differs = before?.digest !== after?.digest || before?.version !== after?.version;
  // Only a digest tells apart what carries the same version.
  const text = ({ version, digest }: ExtensionImage) =>
    differs && before?.version === after?.version ? `${version} ${hex(digest)}` : version;
  if (before !== null && after !== null && !differs) return <span>{text(after)}</span>;
  return (
    <>
      {before !== null && <del className="text-soft">{text(before)}</del>}
      {before !== null && after !== null && (
        <>
          <span aria-hidden="true"> → </span>
          <span className="sr-only"> {words.t("compare.becomes")} </span>
        </>
      )}
      {after !== null && <ins className="no-underline">{text(after)}</ins>}
    </>
  );
}
