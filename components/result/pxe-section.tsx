/** The network script of a choice, where its machine can start that way. */
import { chainLine } from "../../lib/domain/snippets/addresses.ts";
import type { SnippetContext } from "../../lib/domain/snippets/types.ts";
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";
import { ResultPart } from "./result-part.tsx";

interface Props {
  words: Words;
  context: SnippetContext;
  /** Name of the script; null when the machine has none. */
  pxe: string | null;
}

export function PxeSection({ words, context, pxe }: Props) {
  if (pxe === null) return null;
  return (
    <ResultPart id="pxe" title={words.t("result.pxe")}>
      <p className="text-sm text-soft">{words.t("result.pxe.hint")}</p>
      <CodeLine caption="iPXE" text={chainLine(context, pxe)} />
    </ResultPart>
  );
}
