/** Catalog, comparison and upgrade check in Chromium: found without scripts, walked by keyboard, clean for axe. */
import AxeBuilder from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";

let web: WebFactory;
/** Written with an old name and one that nobody has; and as it is after the check. */
let old: string;
let fresh: string;

const withExtensions = (...names: string[]) =>
  `customization: {systemExtensions: {officialExtensions: [${names.map((name) => `siderolabs/${name}`).join(", ")}]}}`;

/** All catalogs are read soon after the start; until then pages say that some are still being read. */
async function allRead(): Promise<void> {
  const catalog: { unread: string[] } = await (await fetch(`${web.url}/api/v1/catalog`)).json();
  expect(catalog.unread).toEqual([]);
}

beforeAll(async () => {
  web = await startWebFactory();
  old = await web.factory.schematic(withExtensions("qemu-guest-agent", "i915-ucode", "never"));
  fresh = await web.factory.schematic(withExtensions("qemu-guest-agent", "i915"));
  await vi.waitFor(allRead, { timeout: 120_000, interval: 500 });
}, 300_000);
afterAll(() => web?.stop(), 60_000);

describe("without scripts", () => {
  it("finds an extension by its old name, looks inside and leads to the form with it chosen", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto("/catalog");
    await page.getByLabel("Search").fill("i915-ucode");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("1 entry found.").waitFor();
    await page.getByRole("link", { name: "i915", exact: true }).click();
    await page.getByText("Formerly siderolabs/i915-ucode").waitFor();
    await page.getByRole("link", { name: "List the files" }).click();
    await page.getByRole("cell", { name: "manifest.yaml" }).waitFor({ timeout: 60_000 });
    await page.getByRole("link", { name: "Use it" }).click();
    await page.waitForURL(/extensions=siderolabs%2Fi915(&|$)/);
    await page.close();
  });

  it("leaves out what is gone, renames what was renamed, and stores the schematic that fits", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto(`/upgrade?id=${old}&from=v1.12.4&to=v1.13.2`);
    await page.getByText("1 thing stands in the way").waitFor();
    expect(await page.getByRole("button", { name: "Create it" }).count()).toBe(0);
    await page.getByRole("checkbox", { name: "Leave it out siderolabs/never" }).check();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("It fits after 2 changes").waitFor();
    await page.getByRole("button", { name: "Create it" }).click();
    await page.waitForURL(`**/schematics/${fresh}?version=v1.13.2&platform=metal&arch=amd64`);
    await page.close();
  });

  it("does not take the form of another site, nor one that does not fit", async () => {
    const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${web.url}/upgrade/create`, {
        method: "POST",
        redirect: "manual",
        headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams(fields),
      });
    expect((await post({ id: old }, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    const back = await post({ id: old, to: "v1.13.2" });
    expect([back.status, back.headers.get("location")]).toEqual([
      303,
      `/upgrade?id=${old}&to=v1.13.2&platform=metal&arch=amd64`,
    ]);
  });
});

describe("comparing", () => {
  it("goes from the bare form by keyboard to a page that can be swapped, in French too", async () => {
    const page = await web.open({ locale: "fr-FR" });
    await page.goto("/compare");
    await page.getByLabel("Avant").focus();
    await page.keyboard.type(`${old}@v1.12.4`);
    await page.keyboard.press("Tab");
    await page.keyboard.type(`http://x/metal-installer/${fresh}:v1.13.2`);
    await page.keyboard.press("Enter");
    const text = page.getByRole("region", { name: "Texte du schéma" });
    await text.waitFor();
    expect(await text.locator("ins").allInnerTexts()).toEqual([expect.stringContaining("siderolabs/i915")]);
    expect(await text.locator("del").count()).toBe(2);
    await page.getByRole("link", { name: "Inverser" }).click();
    await page.waitForURL(`**/compare?a=${fresh}%40v1.13.2&b=${old}%40v1.12.4**`);
    expect(await text.locator("ins").count()).toBe(2);
    await page.close();
  });

  it.each([
    ["/catalog/extensions/siderolabs/nothing", 404, "No version offered here has this"],
    ["/catalog/overlays/nothing", 404, "No version offered here has this"],
    ["/compare?a=banana&b=v1.13.2", 200, "This names neither a schematic nor a version."],
    ["/compare?a=v1.2.3&b=v1.13.2", 200, "version 1.2.3 is not available"],
    ["/upgrade?id=banana", 200, "This names no schematic."],
  ])("%s says what is wrong", async (path, status, sentence) => {
    const reply = await fetch(web.url + path, { headers: { Accept: "text/html", "Accept-Language": "en" } });
    expect(reply.status).toBe(status);
    expect(await reply.text()).toContain(sentence);
  });
});

describe.each(["light", "dark"] as const)("axe in the %s theme", (colorScheme) => {
  it.each([
    ["the catalog", () => "/catalog"],
    ["the releases", () => "/catalog?list=releases"],
    ["an extension", () => "/catalog/extensions/siderolabs/i915?talos=v1.14.0-beta.1&arch=amd64&read=true"],
    ["a comparison", () => `/compare?a=${old}@v1.9.5&b=${fresh}@v1.13.2`],
    ["an upgrade", () => `/upgrade?id=${old}&from=v1.9.5&to=v1.13.2`],
  ])("finds nothing on %s, which fits 360 pixels", async (_what, path) => {
    for (const width of [1280, 360]) {
      const page = await web.open({ colorScheme, viewport: { width, height: 844 } });
      expect((await page.goto(path()))?.status()).toBe(200);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      await page.locator("details").evaluateAll((all) => {
        for (const one of all) one.setAttribute("open", "");
      });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual(
        [],
      );
      await page.close();
    }
  });
});
