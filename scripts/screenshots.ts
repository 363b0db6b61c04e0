/** Takes the pictures in docs/screens: form, files, build and failure, narrow and wide, light and dark. */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startWebFactory, type WebFactory } from "../tests/fixtures/browser.ts";

const FOLDER = join(import.meta.dirname, "../docs/screens");
const LARGEST_BYTES = 300_000;
const WIDTHS = { narrow: 390, wide: 1280 } as const;
const THEMES = ["light", "dark"] as const;

const SCHEMATIC =
  "customization: {extraKernelArgs: [-console, 'console=ttyS0,115200'], systemExtensions: {officialExtensions: [siderolabs/iscsi-tools, siderolabs/qemu-guest-agent]}}";
const FORM =
  "/?target=metal&version=1.13.2&arch=amd64&extensions=siderolabs/iscsi-tools&extensions=siderolabs/qemu-guest-agent&cmdline=-console+console%3DttyS0,115200";

async function startBuild(page: Page, id: string, version: string): Promise<string> {
  await page.goto(`/schematics/${id}?version=${version}&platform=metal&arch=amd64`);
  await page.getByRole("button", { name: "Build metal-amd64.iso", exact: true }).click();
  await page.waitForURL("**/builds/*");
  return new URL(page.url()).pathname;
}

/** Makes a finished and a failed build and names the page of each picture. */
async function preparePages(web: WebFactory): Promise<Record<string, string>> {
  const page = await web.open();
  const id = await web.factory.schematic(SCHEMATIC);
  const build = await startBuild(page, id, "v1.13.2");
  await page.locator('[data-state="ready"]').waitFor({ timeout: 150_000 });
  web.breakSource(true);
  const failed = await startBuild(page, id, "v1.12.4");
  await page.locator('[data-state="failed"]').waitFor({ timeout: 150_000 });
  web.breakSource(false);
  await page.close();
  return {
    form: FORM,
    result: `/schematics/${id}?version=v1.13.2&platform=metal&arch=amd64`,
    ...{ build, failed },
  };
}

async function takePicture(web: WebFactory, name: string, path: string): Promise<void> {
  for (const [size, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of THEMES) {
      const viewport = { width, height: size === "narrow" ? 844 : 900 };
      const page = await web.open({ colorScheme, viewport });
      await page.goto(path, { waitUntil: "networkidle" });
      const file = join(FOLDER, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true });
      const { size: bytes } = await stat(file);
      if (bytes > LARGEST_BYTES) throw new Error(`${file} has ${bytes} bytes, more than ${LARGEST_BYTES}`);
      console.log(`${file} ${(bytes / 1000).toFixed(0)} kB`);
      await page.close();
    }
  }
}

const web = await startWebFactory();
try {
  await mkdir(FOLDER, { recursive: true });
  const pages = await preparePages(web);
  for (const [name, path] of Object.entries(pages)) await takePicture(web, name, path);
} finally {
  await web.stop();
}
