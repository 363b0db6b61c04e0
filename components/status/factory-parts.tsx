/** The parts a factory cannot work without: which answer, and what to do about those that do not. */
import type { HealthCheck } from "../../lib/services/contracts.ts";
import { Badge } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

export function FactoryParts({ words, checks }: { words: Words; checks: HealthCheck[] }) {
  const { t } = words;
  return (
    <ul aria-label={t("status.parts")} className="flex flex-wrap gap-x-8 gap-y-3">
      {checks.map(({ name, ok, hint }) => (
        <li
          key={name}
          className={
            ok
              ? "max-sm:flex max-sm:w-full max-sm:justify-between"
              : "w-full border-l-2 border-bad bg-bad-wash px-3 py-2"
          }
        >
          <span className="mr-2">{t(`status.part.${name}`)}</span>
          <Badge tone={ok ? "good" : "bad"}>{t(ok ? "status.ok" : "status.away")}</Badge>
          {!ok && (
            <p className="text-sm" lang="en">
              {hint}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
