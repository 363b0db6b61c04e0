/** The result page: the file and the snippet for the machine, the others one click away, live, on paper. */
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";

let web: WebFactory;
let schematic: string;

beforeAll(async () => {
  web = await startWebFactory({ BUILD_CONCURRENCY: "1" });
  schematic = await web.factory.schematic(
    "customization: {extraKernelArgs: [result=1], systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}",
  );
}, 300_000);
afterAll(() => web?.stop(), 60_000);

/** What the factory calls itself when nobody says otherwise. */
const publicHost = () => `localhost:${new URL(web.url).port}`;
const pathOf = (rest: string) => `/schematics/${schematic}?version=v1.13.2&arch=amd64&${rest}`;
const code = (page: Page) => page.getByRole("region", { name: "Put it to use" }).locator("pre");

describe("without scripts", () => {
  it("shows the file and the snippet of the machine first, and every other one by a link", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto(pathOf("platform=nocloud"));
    expect(await page.locator(".button-primary").count()).toBe(1);
    await page.getByRole("heading", { name: "nocloud-amd64.raw.xz" }).waitFor();
    await page.getByRole("heading", { name: "Proxmox VE", exact: true }).waitFor();
    const image = `http://${publicHost()}/image/${schematic}/v1.13.2`;
    expect(await code(page).textContent()).toContain(`curl -fLO ${image}/nocloud-amd64.raw.xz &&`);
    expect(await code(page).textContent()).toContain("--agent enabled=1");
    await page.getByRole("link", { name: "Google Cloud" }).click();
    await page.getByRole("heading", { name: "Google Cloud" }).waitFor();
    expect(page.url()).toMatch(/platform=nocloud.*snippet=gcp#use$/);
    expect(await code(page).textContent()).toContain(`${image}/gcp-amd64.raw.tar.gz`);
    expect(await page.getByRole("link", { name: "Google Cloud" }).getAttribute("aria-current")).toBe("true");
    await page.locator("summary", { hasText: "other files" }).click();
    await page.getByRole("button", { name: "Build nocloud-amd64.iso", exact: true }).waitFor();
    await page.close();
  });

  it("names the installer, the upgrade and the script of the network with SecureBoot", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await page.goto(pathOf("platform=metal&secureboot=true"));
    await page.getByRole("heading", { name: "metal-amd64-secureboot.iso" }).waitFor();
    const reference = `${publicHost()}/metal-installer-secureboot/${schematic}:v1.13.2`;
    await page.getByText(reference, { exact: true }).waitFor();
    await page.getByText(`talosctl upgrade --nodes "$NODE" --image ${reference}`).waitFor();
    await page.getByText(`/pxe/${schematic}/v1.13.2/metal-amd64-secureboot`).waitFor();
    await page.close();
  });
});

describe("with scripts", () => {
  it("follows a build to its end without being loaded again", async () => {
    const started = async (file: string) => {
      const url = `${web.url}/image/${schematic}/v1.13.2/${file}`;
      expect((await fetch(url, { headers: { Prefer: "respond-async" } })).status).toBe(202);
    };
    // One at a time is built: the last one waits long enough for the page to open.
    for (const file of ["qcow2", "raw.gz"]) await started(`metal-amd64.${file}`);
    await started("metal-amd64.iso");
    const page = await web.open();
    await page.goto(pathOf("platform=metal"));
    await page.getByRole("link", { name: "Follow metal-amd64.iso", exact: true }).waitFor();
    await page.evaluate(() => {
      document.documentElement.dataset.same = "yes";
    });
    await page
      .getByRole("link", { name: "Download metal-amd64.iso", exact: true })
      .waitFor({ timeout: 150_000 });
    expect(await page.locator("html").getAttribute("data-same")).toBe("yes");
    expect(web.scriptErrors).toEqual([]);
    await page.close();
  });

  it("moves nothing while it loads, fits a small phone and stays light", async () => {
    const page = await web.open({ viewport: { width: 360, height: 740 } });
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if ("value" in entry) shifts.push(Number(entry.value));
      }).observe({ type: "layout-shift", buffered: true });
    });
    const requests: Request[] = [];
    page.on("requestfinished", (request) => requests.push(request));
    await page.goto(pathOf("platform=nocloud&snippet=terraform-proxmox"), { waitUntil: "networkidle" });
    const seen = await page.evaluate(() => ({
      shifts: Reflect.get(window, "shifts"),
      wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }));
    expect(seen).toEqual({ shifts: [], wider: 0 });
    let scripts = 0;
    for (const request of requests)
      if (request.resourceType() === "script") scripts += (await request.sizes()).responseBodySize;
    expect(scripts).toBeGreaterThan(50_000);
    expect(scripts).toBeLessThan(200_000);
    console.log(`scripts of the result page: ${(scripts / 1000).toFixed(1)} kB compressed`);
    await page.close();
  });

  it("prints one sheet with ID, commands and code, in French too", async () => {
    for (const [locale, use] of [
      ["en-US", "Put it to use"],
      ["fr-FR", "Mise en service"],
    ] as const) {
      const page = await web.open({ locale });
      await page.goto(pathOf("platform=nocloud"));
      await page.getByRole("heading", { name: use }).waitFor();
      await page.emulateMedia({ media: "print" });
      for (const text of [schematic, "qm create", "talosctl upgrade", "chain --autofree"])
        expect(await page.getByText(text).first().isVisible(), text).toBe(true);
      expect(await page.getByRole("img", { name: /QR/ }).first().isVisible()).toBe(true);
      expect(await page.locator("button:visible, nav:visible, summary:visible").count()).toBe(0);
      const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
      expect(pdf.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1);
      await page.close();
    }
  });
});

describe("QR codes", () => {
  it("hold the address of a file of this factory and of nothing else", async () => {
    const qr = (path: string) => fetch(`${web.url}/schematics/${schematic}/qr?version=v1.13.2&path=${path}`);
    const reply = await qr("metal-amd64.iso");
    expect(reply.headers.get("content-type")).toBe("image/svg+xml");
    expect(await reply.text()).toMatch(/^<svg [^>]+><path fill="#fff"[^>]+><path d="M4 4h7v1h-7z/);
    for (const path of ["", "..%2F..%2Fx", "metal-amd64.banana", `${"a".repeat(200)}-amd64.iso`])
      expect((await qr(path)).status, path).toBe(404);
  });

  it("are 404 for what is no ID", async () => {
    const reply = await fetch(`${web.url}/schematics/banana/qr?version=v1.13.2&path=metal-amd64.iso`);
    expect(reply.status).toBe(404);
  });
});
