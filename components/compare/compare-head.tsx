/** Top of a comparison: the two sides, the ways on, and the form for another one. */
import type { ReactNode } from "react";
import type { ComparedSide, Comparison } from "../../lib/services/catalog/contracts.ts";
import { Badge } from "../ui/badge.tsx";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

function SideName({ words, side }: { words: Words; side: ComparedSide }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
      {side.id !== null && (
        <a href={`/schematics/${side.id}?version=${side.version}`} className="link">
          <IdMark id={side.id} />
        </a>
      )}
      <span>Talos {side.version}</span>
      {side.sample && <Badge>{words.t("sample.short")}</Badge>}
    </span>
  );
}

interface Props {
  words: Words;
  comparison: Comparison;
  /** The same comparison the other way round. */
  swapHref: string;
  /** Null where an upgrade is not the next question. */
  upgradeHref: string | null;
  form: ReactNode;
}

export function CompareHead({ words, comparison, swapHref, upgradeHref, form }: Props) {
  const { t } = words;
  return (
    <header className="space-y-4">
      <h1 className="text-xl font-semibold tracking-tight">{t("compare.title")}</h1>
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2">
        <dt className="text-sm text-soft">{t("compare.before")}</dt>
        <dd>
          <SideName words={words} side={comparison.before} />
        </dd>
        <dt className="text-sm text-soft">{t("compare.after")}</dt>
        <dd>
          <SideName words={words} side={comparison.after} />
        </dd>
      </dl>
      <p className="flex flex-wrap gap-2">
        <a className="button" href={swapHref}>
          {t("compare.swap")}
        </a>
        {upgradeHref !== null && (
          <a className="button" href={upgradeHref}>
            {t("upgrade.title")}
          </a>
        )}
      </p>
      <details>
        <summary className="text-sm font-medium">{t("compare.other")}</summary>
        <div className="mt-4">{form}</div>
      </details>
    </header>
  );
}
