/** Every page in both themes against axe; failures, cancelled builds and what is missing. */

import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";
import { packChaos, sendJson, uploadPin } from "../fixtures/own-extensions.ts";
import { exchangeBytes, parseReply, requestBytes } from "../fixtures/raw-http.ts";

let web: WebFactory;
let schematic: string;
let failedBuild: string;
let readyBuild: string;
let preset: string;
let ownSource: string;

/** Starts a build by the result page's own form and gives the path of the build page. */
async function startBuild(page: Page, id: string, file: string): Promise<string> {
  await page.goto(`/schematics/${id}?version=v1.13.2&platform=metal&arch=amd64`);
  const build = page.getByRole("button", { name: `Build ${file}`, exact: true });
  if (!(await build.isVisible())) await page.locator("summary", { hasText: "other files" }).click();
  await build.click();
  await page.waitForURL("**/builds/*");
  return new URL(page.url()).pathname;
}

beforeAll(async () => {
  web = await startWebFactory({ OWN_EXTENSIONS: "everyone" });
  schematic = await web.factory.schematic("customization: {extraKernelArgs: [axe=1]}");
  const kept = { name: "A preset", labels: { site: "lyon", lab: "" }, schematic, version: "v1.13.2" };
  const { status, body } = await sendJson(`${web.url}/api/v1/presets`, kept);
  expect(status).toBe(201);
  preset = body.id;
  const archive = await packChaos(join(web.factory.dataDir, "made"), { version: "v1.0.0" });
  ownSource = (await uploadPin(archive, `${web.url}/api/v1/extensions/team/chaos-daemon`)).sourceId;
}, 300_000);
afterAll(() => web?.stop(), 60_000);

it("passes over a wish to upgrade, also once a page was shown: Java and curl --http2 send one with every request", async () => {
  expect((await fetch(web.url)).status).toBe(200);
  const headers = {
    Connection: "close, Upgrade, HTTP2-Settings",
    Upgrade: "h2c",
    "HTTP2-Settings": "AAMAAABk",
  };
  const bytes = requestBytes({ method: "GET", target: "/versions", headers }, "factory.test");
  expect(parseReply(await exchangeBytes(web.url, bytes), "GET")?.status).toBe(200);
});

describe("a failing build", () => {
  it("says why on top, what to do next, and works when tried again", async () => {
    const page = await web.open();
    web.breakSource(true);
    failedBuild = await startBuild(page, schematic, "metal-amd64.iso");
    await page.getByRole("heading", { name: "The build failed" }).waitFor({ timeout: 120_000 });
    expect(await page.getByText("Next step:").count()).toBe(1);
    await page.reload();
    await page.getByRole("heading", { name: "The build failed" }).waitFor();
    web.breakSource(false);
    // A failure that cannot heal by itself is told again for a while before the work is tried anew.
    const again = page.getByRole("button", { name: "Build again" });
    const first = page.url();
    const buildAgain = async () => {
      await again.click();
      await page.waitForLoadState();
      return page.url();
    };
    await expect.poll(buildAgain, { timeout: 60_000, interval: 5_000 }).not.toBe(first);
    await page.locator('[data-state="ready"]').waitFor({ timeout: 120_000 });
    readyBuild = page.url();
    await page.close();
  });

  it("shows a build that ends while nobody follows it, and ends one on request", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await startBuild(page, schematic, "metal-amd64.raw.zst");
    const cancel = page.getByRole("button", { name: "Cancel the build" });
    if (await cancel.isVisible()) await cancel.click();
    await page.locator('[data-state="cancelled"], [data-state="ready"]').waitFor({ timeout: 120_000 });
    await page.goto("/builds");
    expect(await page.getByRole("row").count()).toBeGreaterThan(2);
    await page.goto("/builds?state=failed");
    await page.getByRole("link", { name: "metal-amd64.iso" }).first().waitFor();
    await page.close();
  });
});

describe("what is missing", () => {
  const statusOf = async (path: string) => {
    const reply = await fetch(web.url + path, { headers: { Accept: "text/html" } });
    return { status: reply.status, text: await reply.text() };
  };

  it.each([
    ["/nowhere", "There is no page here"],
    [`/schematics/${"0".repeat(64)}`, "No schematic has this ID here"],
    ["/schematics/banana", "No schematic has this ID here"],
    ["/builds/00000000-0000-4000-8000-000000000000", "There is no such build"],
    ["/builds/banana", "There is no such build"],
  ])("%s is a page that says so", async (path, sentence) => {
    const { status, text } = await statusOf(path);
    expect(status).toBe(404);
    expect(text).toContain(sentence);
  });

  it("names the versions that are offered when one is not", async () => {
    const { status, text } = await statusOf(`/schematics/${schematic}?version=v1.2.3`);
    expect(status).toBe(404);
    expect(text).toContain("Talos v1.2.3 is not offered here");
    expect(text).toContain("version=v1.13.2");
  });

  it("still gives machines the text of a schematic", async () => {
    const reply = await fetch(`${web.url}/schematics/${schematic}`);
    expect(await reply.text()).toContain("axe=1");
  });

  it("does not take forms from other sites", async () => {
    const reply = await fetch(`${web.url}/create`, {
      method: "POST",
      headers: { "Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded" },
      body: "intent=create&version=1.13.2",
    });
    expect(reply.status).toBe(403);
  });
});

/** Every fold open, at both widths and in both themes: what axe finds, and whether something is wider than the window. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.locator("details").evaluateAll((all) => {
    for (const one of all) one.setAttribute("open", "");
  });
  const faults: string[] = [];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
      faults.push(`wider than ${width}`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      for (const { id, nodes } of violations)
        faults.push(`${width} ${colorScheme} ${id}: ${nodes.map((node) => node.html).join(" ")}`);
    }
  }
  return faults;
}

describe("axe", () => {
  it.each([
    ["the form", () => "/"],
    [
      "the form with a platform and problems",
      () => "/?target=cloud&version=1.12.4&platform=alibabacloud&extensions=x%2Fy",
    ],
    ["the form for a board", () => "/?target=sbc&version=1.13.2&overlay-options=a%3A%20%5B"],
    [
      "the files of a schematic for another platform",
      () => `/schematics/${schematic}?version=v1.13.2&platform=vmware&arch=arm64&snippet=talosctl`,
    ],
    ["the files of a schematic", () => `/schematics/${schematic}?version=v1.13.2&platform=metal&arch=amd64`],
    ["the builds", () => "/builds"],
    ["a failed build", () => failedBuild],
    ["a build that is ready", () => readyBuild],
    ["the page that opens things", () => "/open"],
    ["the overlays", () => "/catalog?list=overlays"],
    ["a comparison to be", () => "/compare"],
    ["an upgrade to be", () => "/upgrade"],
    ["the presets", () => "/presets"],
    ["a preset to be", () => `/presets/new?schematic=${schematic}&version=v1.13.2&problem=labels`],
    ["a preset", () => `/presets/${preset}`],
    ["the status", () => "/status"],
    ["own extensions", () => "/extensions"],
    ["an own extension", () => `/extensions/${ownSource}`],
    ["the API", () => "/api"],
    ["a missing page", () => "/nowhere"],
  ])("finds nothing on %s", async (_what, path) => {
    // Colours that are still changing would be measured half way.
    const page = await web.open({ reducedMotion: "reduce" });
    const reply = await page.goto(path());
    expect(reply?.status()).toBe(path() === "/nowhere" ? 404 : 200);
    expect(await faultsOf(page)).toEqual([]);
    await page.close();
  });
});
