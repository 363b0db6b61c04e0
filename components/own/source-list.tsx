/** Own sources as rows: name, where from, what is in use, what waits to be looked at. */
import type { OwnSourceView } from "../../lib/services/own/contracts.ts";
import { Badge } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

/** What a source is called: its namespace, and its name where it has one. */
export const sourceTitle = ({ namespace, name, subject }: OwnSourceView): string =>
  name === null ? `${namespace}/…` : subject === "overlay" ? name : `${namespace}/${name}`;

function Row({ words, source }: { words: Words; source: OwnSourceView }) {
  const { t, plural } = words;
  const used = source.pins.filter((pin) => pin.state === "adopted");
  const offered = source.pins.filter((pin) => pin.state === "offered").length;
  return (
    <li className="grid gap-x-6 gap-y-1 border-t border-line py-4 md:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <a href={`/extensions/${source.id}`} className="link break-all font-mono font-semibold">
            {sourceTitle(source)}
          </a>
          <Badge>{t(`own.kind.${source.kind}`)}</Badge>
          {source.subject === "overlay" && <Badge>{t("own.overlay")}</Badge>}
          {source.override && <Badge tone="warn">{t("own.overrides")}</Badge>}
          {source.declared && <Badge>{t("own.declared")}</Badge>}
        </p>
        {source.reference !== null && <p className="break-all text-sm text-soft">{source.reference}</p>}
      </div>
      <p className="flex flex-wrap items-start gap-2 text-sm md:justify-end">
        {used.length > 0 && <Badge tone="good">{plural("own.used", used.length)}</Badge>}
        {offered > 0 && <Badge tone="accent">{plural("own.offered", offered)}</Badge>}
        {source.trust.rule === "off" && source.kind !== "upload" && (
          <Badge tone="warn">{t("own.trust.off")}</Badge>
        )}
      </p>
    </li>
  );
}

export function SourceList({ words, sources }: { words: Words; sources: OwnSourceView[] }) {
  return (
    <ul>
      {sources.map((source) => (
        <Row key={source.id} words={words} source={source} />
      ))}
    </ul>
  );
}
