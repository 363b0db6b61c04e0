"use client";
/** Place in the queue and time left, as the server reckoned them and as the clock goes on. */
import { useEffect, useState } from "react";
import type { BuildForecast } from "../../lib/domain/build-forecast.ts";
import type { Words } from "../words/translator.ts";

/** The forecast counted down since it was read; `tick` is anything that changes as time goes. */
export function useForecast(forecast: BuildForecast | null, tick: unknown): BuildForecast | null {
  const [readAt, setReadAt] = useState<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new forecast starts the count again
  useEffect(() => setReadAt(Date.now()), [forecast]);
  if (forecast === null || forecast.endsInMs === null || readAt === null || tick === null) return forecast;
  return { ...forecast, endsInMs: Math.max(0, forecast.endsInMs - (Date.now() - readAt)) };
}

export function ForecastText({ words, forecast }: { words: Words; forecast: BuildForecast | null }) {
  if (forecast === null) return null;
  const { t, duration } = words;
  const { position, endsInMs } = forecast;
  const whole = endsInMs === null ? null : Math.round(endsInMs / 1_000) * 1_000;
  return (
    <>
      {position !== null && ` · ${t("build.position", { position })}`}
      {whole !== null &&
        ` · ${whole > 0 ? t("build.ends-in", { time: duration(whole) }) : t("build.ends-now")}`}
    </>
  );
}
