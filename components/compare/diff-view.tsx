/** Differences as words and lines: told by sign and word as well as by colour. */
import type { DiffItem } from "../../lib/domain/list-diff.ts";
import type { Words } from "../words/translator.ts";

/** Unchanged lines that are kept around a change. */
const CONTEXT = 3;

interface Props {
  words: Words;
  items: DiffItem<string>[];
}

const TONES = { removed: "bg-bad-wash text-bad", added: "bg-good-wash text-good" } as const;
const SIGNS = { removed: "−", added: "+" } as const;

function Marked({ words, change, value }: { words: Words; change: "removed" | "added"; value: string }) {
  const Tag = change === "removed" ? "del" : "ins";
  return (
    <Tag className="no-underline">
      <span aria-hidden="true" className="select-none">
        {SIGNS[change]}
      </span>
      <span className="sr-only">{words.t("before", { name: words.t(`change.${change}`) })} </span>
      {value}
    </Tag>
  );
}

/** One wrapped line of words. */
export function WordDiff({ words, items }: Props) {
  const placed = items.map((item, at) => ({ ...item, at }));
  return (
    <p className="code flex flex-wrap gap-x-2 gap-y-0.5">
      {placed.map(({ change, value, at }) => (
        <span key={at} className={`break-all ${change === "same" ? "" : `rounded-sm px-1 ${TONES[change]}`}`}>
          {change === "same" ? value : <Marked words={words} change={change} value={value} />}
        </span>
      ))}
    </p>
  );
}

interface Shown {
  at: number;
  /** Null for a gap. */
  item: DiffItem<string> | null;
  /** Unchanged lines of a gap. */
  lines: number;
}

/** The changed lines with a little around them; what lies between is told by its length. */
function foldUnchanged(items: DiffItem<string>[]): Shown[] {
  const near = (at: number) =>
    items.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((item) => item.change !== "same");
  const shown: Shown[] = [];
  for (const [at, item] of items.entries()) {
    const last = shown.at(-1);
    if (near(at)) shown.push({ at, item, lines: 0 });
    else if (last?.item === null) last.lines += 1;
    else shown.push({ at, item: null, lines: 1 });
  }
  return shown;
}

function Line({ words, item: { change, value } }: { words: Words; item: DiffItem<string> }) {
  return (
    <span className={`-mx-3 block px-3 ${change === "same" ? "" : TONES[change]}`}>
      {change === "same" ? ` ${value}` : <Marked words={words} change={change} value={value} />}
      {"\n"}
    </span>
  );
}

/** Lines one below the other. */
export function LineDiff({ words, items }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <pre className="code" tabIndex={0}>
      {foldUnchanged(items).map(({ at, item, lines }) =>
        item === null ? (
          <span key={at} className="block text-soft">
            ⋯ {words.plural("compare.unchanged", lines)}
          </span>
        ) : (
          <Line key={at} words={words} item={item} />
        ),
      )}
    </pre>
  );
}
