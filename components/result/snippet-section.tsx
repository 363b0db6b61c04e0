/** What to paste where the machine is: the snippet for it, and a list of the others. */
import { snippetsFor } from "../../lib/domain/snippets/catalog.ts";
import {
  SNIPPET_GROUPS,
  type Snippet,
  type SnippetContext,
  type SnippetId,
  type SnippetLanguage,
} from "../../lib/domain/snippets/types.ts";
import { writeSnippet } from "../../lib/domain/snippets/write-snippet.ts";
import { CodeLine } from "../ui/code-line.tsx";
import type { MessageKey, Words } from "../words/translator.ts";
import { ResultPart } from "./result-part.tsx";

const LANGUAGES: Record<SnippetLanguage, string> = {
  sh: "Shell",
  hcl: "HCL",
  powershell: "PowerShell",
  ipxe: "iPXE",
  json: "JSON",
};

/** Names that are words of the language, not of a maker. */
const WORDS: Partial<Record<SnippetId, MessageKey>> = {
  usb: "snippet.name.usb",
  disk: "snippet.name.disk",
  board: "snippet.name.board",
  download: "snippet.name.download",
};

const nameOf = ({ id, name }: Snippet, { t }: Words): string => {
  const key = WORDS[id];
  return name ?? (key ? t(key) : id);
};

interface ListProps {
  words: Words;
  all: Snippet[];
  shown: Snippet;
  hrefOf(id: string): string;
}

function Others({ words, all, shown, hrefOf }: ListProps) {
  return (
    <nav aria-labelledby="other-uses" className="no-print pt-2 text-sm">
      <h3 id="other-uses" className="font-semibold">
        {words.t("result.use.other")}
      </h3>
      <dl className="mt-2 space-y-2">
        {SNIPPET_GROUPS.map((group) => {
          const members = all.filter((snippet) => snippet.group === group);
          if (members.length === 0) return null;
          return (
            <div key={group} className="grid gap-x-4 sm:grid-cols-[9rem_minmax(0,1fr)]">
              <dt className="py-0.5 text-soft">{words.t(`snippet.group.${group}`)}</dt>
              <dd className="flex flex-wrap gap-x-4 gap-y-1">
                {members.map((snippet) => (
                  <a
                    key={snippet.id}
                    href={hrefOf(snippet.id)}
                    rel="nofollow"
                    aria-current={snippet.id === shown.id ? "true" : undefined}
                    className={`whitespace-nowrap py-0.5 ${snippet.id === shown.id ? "font-semibold" : "link"}`}
                  >
                    {nameOf(snippet, words)}
                  </a>
                ))}
              </dd>
            </div>
          );
        })}
      </dl>
    </nav>
  );
}

interface Props {
  words: Words;
  context: SnippetContext;
  /** ?snippet= of the page. */
  wanted: string | null;
  hrefOf(id: string): string;
}

export function SnippetSection({ words, context, wanted, hrefOf }: Props) {
  const { t } = words;
  const { all, fitting } = snippetsFor(context);
  const shown = all.find(({ id }) => id === wanted) ?? fitting;
  if (shown === null) return null;
  const text = shown.write(context);
  return (
    <ResultPart id="use" title={t("result.use")}>
      <h3 className="font-semibold">{nameOf(shown, words)}</h3>
      <p className="max-w-prose text-sm text-soft">{t(`snippet.where.${shown.id}`)}</p>
      <CodeLine
        caption={LANGUAGES[text.language]}
        text={writeSnippet(text, (note) => t(`snippet.note.${note}`))}
        block
      />
      <Others words={words} all={all} shown={shown} hrefOf={hrefOf} />
    </ResultPart>
  );
}
