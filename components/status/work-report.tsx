/** What is under way, who works on it, and how much work was saved. */
import type { FactoryStatus } from "../../lib/services/status/contracts.ts";
import type { Words } from "../words/translator.ts";
import { FIGURES, Figure, StatusSection } from "./status-section.tsx";

interface Props {
  words: Words;
  status: Pick<FactoryStatus, "builds" | "workers" | "reuse">;
}

const share = (part: number, whole: number): number => Math.round((100 * part) / Math.max(1, whole));

/** Downloads that no build had to be made for, in percent. */
const withoutBuild = (downloads: number, built: number) => share(Math.max(0, downloads - built), downloads);

function Workers({ words, workers }: { words: Words; workers: NonNullable<FactoryStatus["workers"]> }) {
  const { t } = words;
  if (workers.length === 0)
    return <p className="border-l-2 border-bad bg-bad-wash px-3 py-2">{t("status.no-workers")}</p>;
  return (
    <table className="w-full max-w-xl text-sm">
      <caption className="sr-only">{t("status.workers")}</caption>
      <thead className="eyebrow">
        <tr>
          <th scope="col" className="pb-2 text-left font-semibold">
            {t("status.worker")}
          </th>
          <th scope="col" className="pb-2 text-right font-semibold">
            {t("status.busy")}
          </th>
        </tr>
      </thead>
      <tbody>
        {workers.map(({ number, host, slots, running }) => (
          <tr key={number} className="border-t border-line">
            <td className="break-all py-2 font-mono">{host}</td>
            <td className="py-2 text-right">{t("status.of", { part: running, whole: slots })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function WorkReport({ words, status }: Props) {
  const { t, number } = words;
  const { builds, workers, reuse } = status;
  const running = builds.building + builds.uploading;
  return (
    <>
      <StatusSection id="work" title={t("status.work")}>
        <dl className={`mb-6 ${FIGURES}`}>
          <Figure label={t("state.queued")} value={number(builds.queued)} href="/builds?state=queued" />
          <Figure label={t("state.building")} value={number(running)} href="/builds?state=building" />
          <Figure label={t("status.day.ready")} value={number(builds.ready)} href="/builds?state=ready" />
          <Figure label={t("status.day.failed")} value={number(builds.failed)} href="/builds?state=failed" />
        </dl>
        {workers === null ? (
          <p className="text-soft">{t("status.workers-unknown")}</p>
        ) : (
          <Workers words={words} workers={workers} />
        )}
      </StatusSection>
      <StatusSection id="reuse" title={t("status.reuse")}>
        <dl className={FIGURES}>
          {reuse.downloads !== null && (
            <>
              <Figure label={t("status.downloads")} value={number(reuse.downloads)} />
              <Figure
                label={t("status.downloads-ready")}
                value={t("percent", { percent: withoutBuild(reuse.downloads, reuse.built) })}
              />
            </>
          )}
          <Figure label={t("status.steps")} value={number(reuse.steps)} />
          <Figure
            label={t("status.steps-cached")}
            value={t("percent", { percent: share(reuse.stepsCached, reuse.steps) })}
          />
        </dl>
      </StatusSection>
    </>
  );
}
