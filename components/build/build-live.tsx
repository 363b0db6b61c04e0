"use client";
/** A build page's live part: state, percent, what it gave or why it failed, phases, log. */
import { useEffect, useState } from "react";
import { FINISHED_STATES } from "../../lib/domain/build-state.ts";
import { useWords } from "../words/words-provider.tsx";
import { knowingQuery } from "./build-address.ts";
import { BuildAgain } from "./build-again.tsx";
import { BuildLog } from "./build-log.tsx";
import { BuildReady } from "./build-ready.tsx";
import { FailureReport } from "./failure-report.tsx";
import { ForecastText, useForecast } from "./forecast-text.tsx";
import { PhaseLine } from "./phase-line.tsx";
import type { BuildProgress, PlannedStep } from "./progress-types.ts";
import type { BuildSnapshot } from "./snapshot.ts";
import { StateBadge } from "./state-badge.tsx";
import { useBuild } from "./use-build.ts";

interface Props {
  start: BuildSnapshot;
  planned: PlannedStep[];
  /** Address of the file; null when this reader must not know it. */
  url: string | null;
  pxeUrl: string | null;
}

/** Seconds since the start, counted only while the build runs. */
function useElapsed(startedAt: string | null, running: boolean): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return running && now !== null && startedAt !== null ? Math.max(0, now - Date.parse(startedAt)) : null;
}

const SAY_EVERY = 25;

interface RunningProps {
  build: BuildSnapshot;
  progress: BuildProgress;
  /** False while the event stream is being reopened. */
  connected: boolean;
}

function Running({ build, progress, connected }: RunningProps) {
  const words = useWords();
  const { t, plural, duration } = words;
  const elapsed = useElapsed(build.startedAt, true);
  const forecast = useForecast(build.forecast, elapsed);
  const percent = Math.floor(progress.percent);
  return (
    <section aria-label={t("build.progress")} className="space-y-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="text-xl font-semibold">{t("percent", { percent })}</span>
        <StateBadge words={words} state={progress.state} />
        <span className="text-soft">
          {progress.state === "queued" ? t("build.queued") : elapsed !== null && duration(elapsed)}
          <ForecastText words={words} forecast={forecast} />
          {build.waiters > 0 && ` · ${plural("build.waiters", build.waiters)}`}
          {!connected && ` · ${t("build.reconnecting")}`}
          {progress.attempt > 1 && ` · ${t("build.attempt", { attempt: progress.attempt })}`}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label={t("build.progress")}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div className="h-full bg-accent transition-[width] duration-150" style={{ width: `${percent}%` }} />
      </div>
      <p className="sr-only" aria-live="polite">
        {t(`state.${progress.state}`)},{" "}
        {t("percent", { percent: Math.floor(percent / SAY_EVERY) * SAY_EVERY })}
      </p>
      <form method="post" action={`/builds/${build.id}/cancel${knowingQuery(build)}`}>
        <button type="submit" className="button">
          {t("build.cancel")}
        </button>
      </form>
    </section>
  );
}

function Cancelled({ build }: { build: BuildSnapshot }) {
  const { t } = useWords();
  return (
    <section className="flex flex-wrap items-center gap-4">
      <p className="text-soft">{t("build.cancelled")}</p>
      <BuildAgain build={build} />
    </section>
  );
}

export function BuildLive({ start, planned, url, pxeUrl }: Props) {
  const { t } = useWords();
  const { progress, build, connected } = useBuild(start, planned);
  const running = !FINISHED_STATES.includes(progress.state);
  const error = progress.error ?? build.error;
  return (
    <div className="space-y-8" data-state={progress.state}>
      {progress.state === "failed" && error !== null && <FailureReport build={build} error={error} />}
      {progress.state === "ready" && build.asset !== null && (
        <BuildReady build={build} asset={build.asset} url={url} pxeUrl={pxeUrl} />
      )}
      {progress.state === "cancelled" && <Cancelled build={build} />}
      {running && <Running build={build} progress={progress} connected={connected} />}
      <section aria-labelledby="phases" className="border-t border-line pt-6">
        <h2 id="phases" className="mb-4 font-semibold">
          {t("build.phases")}
        </h2>
        {progress.steps.length === 0 ? (
          <p className="text-sm text-soft">{t("build.no-steps")}</p>
        ) : (
          <PhaseLine steps={progress.steps} />
        )}
      </section>
      <BuildLog lines={progress.log} name={build.path} running={running} />
      <p className="text-sm text-soft">
        {t("build.events")} <code>curl -N</code>{" "}
        <a className="link break-all" href={`/api/v1/builds/${build.id}/events`}>
          /api/v1/builds/{build.id}/events
        </a>
      </p>
    </div>
  );
}
