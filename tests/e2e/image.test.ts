/** The form: to a checked ISO, what it keeps and says, how heavy it is; without scripts too; the language. */
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";
import { downloadReady } from "../fixtures/downloads.ts";

const AGENT_ID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
let web: WebFactory;

beforeAll(async () => {
  web = await startWebFactory();
}, 300_000);
afterAll(() => web?.stop(), 60_000);

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
    expect((await downloadReady(page, "Download")).name).toBe("metal-amd64.iso");
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
