/** Whole ways through the pages on one factory, in both languages: each ends with bytes or with the page that was wanted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";
import { keyboardWalk } from "./keyboard-walk.ts";
import { machineWalks, machineWalkWithoutScripts } from "./machine-walks.ts";
import { presetWalk } from "./preset-walk.ts";
import { failureWalk, schematicWalks } from "./schematic-walks.ts";
import { statusWalk } from "./status-walk.ts";

let web: WebFactory;
const theFactory = () => web;

beforeAll(async () => {
  web = await startWebFactory({ BUILD_CONCURRENCY: "1" });
}, 300_000);
afterAll(() => web?.stop(), 60_000);

describe("in English without scripts", () => {
  machineWalkWithoutScripts(theFactory, "en");
});

describe("in English", () => {
  machineWalks(theFactory, "en");
  schematicWalks(theFactory, "en");
  failureWalk(theFactory, "en", "v1.10.7");
});

describe("in French", () => {
  machineWalks(theFactory, "fr");
  schematicWalks(theFactory, "fr");
  failureWalk(theFactory, "fr", "v1.12.4");
});

describe("by keyboard alone", () => {
  keyboardWalk(theFactory);
});

describe("presets", () => {
  presetWalk(theFactory, "en", { javaScriptEnabled: true });
  presetWalk(theFactory, "fr", { javaScriptEnabled: false });
});

describe("status and queue", () => {
  statusWalk(theFactory);
});

describe("scripts of all these pages", () => {
  it("left no error", () => {
    expect(web.scriptErrors).toEqual([]);
  });
});
