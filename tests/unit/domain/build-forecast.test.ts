/** What a waiting or running build is told about its end. */
import { expect, it } from "vitest";
import { forecastBuild } from "../../../lib/domain/build-forecast.ts";

const alone = { ahead: [], running: [], slots: 1, own: 4_000, elapsed: null };

it.each([
  ["the next one with a free slot", alone, { position: 1, endsInMs: 4_000 }],
  ["one behind a running build", { ...alone, running: [1_500] }, { position: 1, endsInMs: 5_500 }],
  ["one behind two others", { ...alone, ahead: [1_000, 2_000] }, { position: 3, endsInMs: 7_000 }],
  [
    "one behind others on two slots",
    { ...alone, ahead: [1_000, 2_000], running: [500, 3_000], slots: 2 },
    { position: 3, endsInMs: 7_000 },
  ],
  ["one of a kind never built", { ...alone, own: null }, { position: 1, endsInMs: null }],
  ["one behind something never built", { ...alone, ahead: [null] }, { position: 2, endsInMs: null }],
  ["one that runs", { ...alone, elapsed: 1_000 }, { position: null, endsInMs: 3_000 }],
  ["one that runs longer than usual", { ...alone, elapsed: 9_000 }, { position: null, endsInMs: 0 }],
  ["more running builds than slots", { ...alone, running: [1_000, 9_000] }, { position: 1, endsInMs: 5_000 }],
])("forecasts %s", (_name, picture, forecast) => {
  expect(forecastBuild(picture)).toEqual(forecast);
});
