/** Where releases come from: is the registry there, how old is the list, what is not offered yet and why. */
import type { FactoryStatus } from "../../lib/services/status/contracts.ts";
import type { Words } from "../words/translator.ts";
import { FIGURES, Figure, StatusSection } from "./status-section.tsx";

interface Props {
  words: Words;
  status: Pick<FactoryStatus, "source" | "releases">;
}

export function SourceReport({ words, status }: Props) {
  const { t, number, date, plural } = words;
  const { source, releases } = status;
  return (
    <StatusSection id="source" title={t("status.source", { registry: source.registry })}>
      <dl className={FIGURES}>
        <Figure label={t("status.newest")} value={releases.newest ?? "–"} />
        <Figure label={t("status.listed")} value={number(releases.listed)} />
        <Figure
          label={t("status.read")}
          value={source.checkedAt === null ? t("status.never") : date(source.checkedAt)}
        />
      </dl>
      {source.failure !== null && (
        <p className="mt-4 border-l-2 border-bad bg-bad-wash px-3 py-2" lang="en">
          {source.failure}
        </p>
      )}
      {releases.incomplete.length > 0 && (
        <details className="mt-6">
          <summary className="font-semibold">
            {plural("status.incomplete", releases.incomplete.length)}
          </summary>
          <dl className="mt-3 space-y-2 text-sm">
            {releases.incomplete.map(({ version, missing }) => (
              <div key={version}>
                <dt className="font-mono">{version}</dt>
                <dd className="break-words text-soft">{t("status.lacks", { names: missing.join(", ") })}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </StatusSection>
  );
}
