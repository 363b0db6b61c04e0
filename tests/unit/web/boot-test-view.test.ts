/** The boot test on the card of an image: button, state, result, console. */
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { PinCard } from "../../../components/own/pin-card.tsx";
import { createWords } from "../../../components/words/translator.ts";
import { WordsProvider } from "../../../components/words/words-provider.tsx";
import { type BootTest, MAINTENANCE_ONLY } from "../../../lib/domain/boot-test.ts";
import type { OwnPinView } from "../../../lib/services/own/contracts.ts";
import en from "../../../messages/en.json" with { type: "json" };

const words = createWords("en", en);
const at = new Date("2026-05-04T03:02:01Z");
const digest = `sha256:${"a".repeat(64)}`;
const pin: OwnPinView = {
  ...{ id: "p", sourceId: "s", subject: "extension", name: "team/chaos-daemon", tag: "v1", digest },
  ...{ repository: "own/team/chaos-daemon", origin: "upload", talos: "", constraint: "", author: "" },
  ...{ description: "", platforms: ["amd64"], sizeBytes: 1, override: false, accepted: false },
  ...{ state: "adopted", createdAt: at, adoptedAt: at, reports: [], errors: 0, warnings: 0 },
};
const passed: BootTest = {
  ...{ id: "t", pinId: "p", digest, version: "v1.13.2", schematicId: null, state: "passed", reason: null },
  ...{ log: "console <says> this", ms: 21_000, createdAt: at, seenAt: at, finishedAt: at },
};
const BUTTON = 'action="/extensions/pins/p/boot-test?source=s"';
const BADGE = ">tested<";

function card(last: BootTest | null, changes: Partial<OwnPinView> = {}): string {
  const props = { words, pin: { ...pin, ...changes }, host: "factory", changeable: true, test: last };
  const page = createElement(PinCard, props);
  // biome-ignore lint/correctness/noChildrenProp: the type of the provider asks for it, and this is no JSX
  return renderToStaticMarkup(createElement(WordsProvider, { language: "en", messages: en, children: page }));
}

test("an image in use can be booted, one on offer or for arm64 alone cannot", () => {
  expect(card(null)).toContain(BUTTON);
  expect(card(null, { state: "offered" })).not.toContain(BUTTON);
  expect(card(null, { platforms: ["arm64"] })).not.toContain(BUTTON);
});

test("a pass is shown with version, duration, digest and console, and marks its digest only", () => {
  const html = card(passed);
  for (const text of ["Booted with v1.13.2", "21\u00a0s", digest, "console &lt;says&gt; this", BADGE, BUTTON])
    expect(html).toContain(text);
  expect(card({ ...passed, digest: `sha256:${"b".repeat(64)}` })).not.toContain(BADGE);
});

test("a test under way says so and offers no second one", () => {
  const html = card({ ...passed, state: "running", log: "", ms: null, finishedAt: null });
  expect(html).toContain("Boot test: running");
  expect(html).not.toContain(BUTTON);
  expect(html).not.toContain(BADGE);
});

test("a failure gives its reason, and a pass that could not ask says so", () => {
  const failed = card({ ...passed, state: "failed", reason: "Kernel panic" });
  expect(failed).toContain("Boot test failed with v1.13.2");
  expect(failed).toContain("Kernel panic");
  expect(failed).not.toContain(BADGE);
  expect(card({ ...passed, reason: MAINTENANCE_ONLY })).toContain(en["own.boot.maintenance"]);
});
