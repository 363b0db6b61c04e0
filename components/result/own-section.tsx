/** The extensions of a schematic that are not official: which image is in use, and how their services are set up. */
import type { OwnMark } from "../../lib/domain/own-mark.ts";
import type { OwnPinView } from "../../lib/services/own/contracts.ts";
import { OwnBadge } from "../own/own-badge.tsx";
import { ServiceHelp } from "../own/service-help.tsx";
import type { Words } from "../words/translator.ts";
import { ResultPart } from "./result-part.tsx";

export interface UsedOwn {
  pin: OwnPinView;
  mark: OwnMark | null;
}

export function OwnSection({ words, used }: { words: Words; used: UsedOwn[] }) {
  const { t } = words;
  if (used.length === 0) return null;
  return (
    <ResultPart id="own" title={t("nav.own")} className="no-print space-y-4">
      {used.map(({ pin, mark }) => (
        <div key={pin.id} className="space-y-3">
          <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <a
              href={`/extensions/${pin.sourceId}`}
              className="link break-all font-mono text-sm font-semibold"
            >
              {pin.name} {pin.tag}
            </a>
            <OwnBadge t={t} mark={mark} />
            <code className="break-all text-xs text-soft">{pin.digest}</code>
          </p>
          <ServiceHelp words={words} services={pin.reports[0]?.services ?? []} />
        </div>
      ))}
    </ResultPart>
  );
}
