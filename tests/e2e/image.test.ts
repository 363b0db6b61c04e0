/** From the form to a downloaded image: with scripts, without, in French, by keyboard alone. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";

const AGENT_ID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
let web: WebFactory;

beforeAll(async () => {
  web = await startWebFactory();
}, 300_000);
afterAll(() => web?.stop(), 60_000);

async function sha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

/** Waits on a build page until the file is there, downloads it and checks it against the sum on the page. */
async function downloadReady(page: Page, label: string): Promise<string> {
  await page.locator('[data-state="ready"]').waitFor({ timeout: 150_000 });
  const sum = await page.locator("pre", { hasText: /^[0-9a-f]{64}$/ }).textContent();
  const waiting = page.waitForEvent("download");
  await page.getByRole("link", { name: label, exact: true }).click();
  const download = await waiting;
  expect(await sha256(await download.path())).toBe(sum);
  return download.suggestedFilename();
}

const buildButton = (page: Page, label: string, file: string) =>
  page.getByRole("button", { name: `${label} ${file}`, exact: true });

describe("the form with scripts", () => {
  it("shows the ID while choosing and leads to a checked ISO", async () => {
    const page = await web.open();
    await page.goto("/");
    await page.getByRole("searchbox").fill("guest agent");
    await page.getByRole("checkbox", { name: /qemu-guest-agent/ }).check();
    const casting = page.getByRole("complementary");
    await casting.getByText("ce4c98…7c7515").waitFor();
    await expect.poll(() => page.url()).toContain("extensions=siderolabs%2Fqemu-guest-agent");
    await casting.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(`**/schematics/${AGENT_ID}**`);
    expect(page.url()).not.toContain("differs");
    expect(await page.getByText("sample, not Talos Linux").count()).toBeGreaterThan(0);
    await buildButton(page, "Build", "metal-amd64.iso").click();
    await page.waitForURL("**/builds/*");
    expect(await downloadReady(page, "Download")).toBe("metal-amd64.iso");
    expect(await page.getByText("chain --autofree").count()).toBe(1);
    await page.close();
  });

  it("keeps the choice across a reload and offers to change it", async () => {
    const page = await web.open();
    await page.goto(`/schematics/${AGENT_ID}?version=v1.13.2&platform=nocloud&arch=amd64`);
    await page.getByRole("link", { name: "Change" }).click();
    await page.waitForURL("**/?from=**target=cloud**");
    await page.getByRole("textbox", { name: "Kernel arguments" }).fill("-console console=ttyS0");
    await expect.poll(() => page.url()).toContain("cmdline=");
    await page.reload();
    expect(await page.getByRole("textbox", { name: "Kernel arguments" }).inputValue()).toBe(
      "-console console=ttyS0",
    );
    expect(await page.getByRole("checkbox", { name: /qemu-guest-agent/ }).isChecked()).toBe(true);
    await page.close();
  });

  it("says beside the field what a version lacks, and sends nothing until it is mended", async () => {
    const page = await web.open();
    await page.goto("/?target=sbc&board=rpi_5&version=1.9.5");
    await page.getByText("Raspberry Pi 5: from Talos 1.12.3.").waitFor();
    await page.getByRole("complementary").getByRole("button", { name: "Create" }).click();
    expect(page.url()).not.toContain("/schematics/");
    await page.getByLabel("Version", { exact: true }).selectOption("1.13.2");
    await expect.poll(() => page.getByText("from Talos 1.12.3.").count()).toBe(0);
    await page.close();
  });

  it("never puts the embedded configuration into an address", async () => {
    const page = await web.open();
    const seen: string[] = [];
    page.on("request", (request) => seen.push(request.url()));
    await page.goto("/");
    await page.getByText("Embedded machine configuration").click();
    await page
      .getByLabel("YAML documents")
      .fill("kind: HostnameConfig\napiVersion: v1alpha1\nhostname: hush-hush");
    await page.getByRole("complementary").getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/schematics/**");
    expect(seen.join("\n")).not.toContain("hush");
    await page.close();
  });

  it("loads less than 200 kB of scripts and nothing from elsewhere", async () => {
    const page = await web.open();
    const requests: Request[] = [];
    page.on("requestfinished", (request) => requests.push(request));
    await page.goto("/", { waitUntil: "networkidle" });
    const hosts = new Set(requests.map((request) => new URL(request.url()).host));
    let bytes = 0;
    for (const request of requests)
      if (request.resourceType() === "script") bytes += (await request.sizes()).responseBodySize;
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(200_000);
    expect([...hosts]).toEqual([new URL(web.url).host]);
    console.log(`scripts of the form: ${(bytes / 1000).toFixed(1)} kB compressed`);
    await page.close();
  });
});

describe("the form without scripts", () => {
  it("leads to a checked disk image for Proxmox", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto("/");
    await page.getByRole("radio", { name: /Cloud or hypervisor/ }).check();
    await page.getByRole("button", { name: "Update the form" }).first().click();
    await page.getByRole("radio", { name: /Nocloud/ }).check();
    await page.getByRole("checkbox", { name: /qemu-guest-agent/ }).check();
    await page.getByRole("complementary").getByRole("button", { name: "Create" }).click();
    await page.waitForURL(`**/schematics/${AGENT_ID}?**platform=nocloud**`);
    await buildButton(page, "Build", "nocloud-amd64.raw.xz").click();
    await page.waitForURL("**/builds/*");
    expect(await downloadReady(page, "Download")).toBe("nocloud-amd64.raw.xz");
    await page.close();
  });

  it("comes back with the field that is wrong, and with what may be secret in no address", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto("/?target=sbc&overlay-options=a%3A%20%5B");
    await page.getByText("This is not valid YAML").waitFor();
    await page.getByText("Embedded machine configuration").click();
    await page.getByLabel("YAML documents").fill("a: [hush");
    await page.getByLabel("All options as YAML").fill("");
    await page.getByRole("complementary").getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/?from=**");
    await page.getByText("This is not valid YAML").waitFor();
    expect(page.url()).not.toContain("hush");
    expect(await page.getByLabel("YAML documents").inputValue()).toBe("a: [hush");
    await page.close();
  });
});

describe("in French", () => {
  it("speaks French because the browser asks for it, down to the download", async () => {
    const page = await web.open({ locale: "fr-FR" });
    await page.goto("/?target=cloud&platform=nocloud");
    expect(await page.locator("html").getAttribute("lang")).toBe("fr");
    await page.getByRole("checkbox", { name: /qemu-guest-agent/ }).check();
    await page.getByRole("complementary").getByRole("button", { name: "Créer" }).click();
    await page.waitForURL("**/schematics/**");
    await page.getByRole("heading", { name: "Pour cette machine" }).waitFor();
    const file = "nocloud-amd64.raw.xz";
    await buildButton(page, "Fabriquer", file)
      .or(page.getByRole("link", { name: `Télécharger ${file}` }))
      .waitFor();
    await page.close();
  });

  it("is kept by the switch and by ?lang", async () => {
    const page = await web.open();
    await page.goto("/?version=1.12.4");
    await page.getByRole("button", { name: "Français" }).click();
    await page.getByRole("heading", { name: "Préparer une image Talos Linux" }).waitFor();
    expect(page.url()).toContain("version=1.12.4");
    await page.goto("/builds?lang=en");
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.goto("/builds");
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.close();
  });
});

describe("the keyboard alone", () => {
  it("is enough to choose, create and start a build", async () => {
    const page = await web.open();
    await page.goto("/");
    const press = (...keys: string[]) =>
      keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());
    const tabTo = async (matches: string) => {
      for (let i = 0; i < 60; i++) {
        await press("Tab");
        if (await page.evaluate((selector) => document.activeElement?.matches(selector), matches)) return;
      }
      throw new Error(`Tab never reached ${matches}`);
    };
    await tabTo("a[href='#main']");
    await press("Enter");
    await tabTo("input[name=target]");
    // Nobody has built anything for this one yet, so that there is something to start.
    await tabTo("input[name=arch]");
    await press("ArrowRight");
    await tabTo("input[name=search]");
    await page.keyboard.type("agent");
    await press("ArrowDown", "Space");
    await page.getByRole("complementary").getByText("ce4c98…7c7515").waitFor();
    await tabTo("button[value=create]");
    await press("Enter");
    await page.waitForURL(`**/schematics/${AGENT_ID}**`);
    await tabTo("form[action='/builds/start'] button");
    await press("Enter");
    await page.waitForURL("**/builds/*");
    await page.close();
    expect(web.scriptErrors).toEqual([]);
  });
});
