/** Takes the pictures in docs/screens: every page, narrow and wide, light and dark, one also in French. */
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import type { Page } from "playwright-core";
import { startWebFactory, type WebFactory } from "../tests/fixtures/browser.ts";
import { packChaos, sendJson, uploadPin, withWarning } from "../tests/fixtures/own-extensions.ts";

const execute = promisify(execFile);

const FOLDER = join(import.meta.dirname, "../docs/screens");
const LARGEST_BYTES = 250_000;
/** All pictures together. */
const MOST_BYTES = 12_000_000;
const COLOURS = 96;
const WIDTHS = { narrow: 390, wide: 1280 } as const;
const THEMES = ["light", "dark"] as const;

/** --only form,result: these pages, the other pictures stay. */
const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });
const only = options.only.split(",").filter(Boolean);

const SCHEMATIC =
  "customization: {extraKernelArgs: [-console, 'console=ttyS0,115200'], systemExtensions: {officialExtensions: [siderolabs/iscsi-tools, siderolabs/qemu-guest-agent]}}";
const OLD =
  "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent, siderolabs/i915-ucode]}}";
const FORM =
  "/?target=metal&version=1.13.2&arch=amd64&extensions=siderolabs/iscsi-tools&extensions=siderolabs/qemu-guest-agent&cmdline=-console+console%3DttyS0,115200";
const MACHINE = "version=v1.13.2&platform=metal&arch=amd64";

interface Picture {
  path: string;
  locale?: string;
}

async function startBuild(page: Page, id: string, version: string): Promise<string> {
  await page.goto(`/schematics/${id}?version=${version}&platform=metal&arch=amd64`);
  await page.getByRole("button", { name: "Build metal-amd64.iso", exact: true }).click();
  await page.waitForURL("**/builds/*");
  return new URL(page.url()).pathname;
}

/** A finished and a failed build of a schematic. */
async function makeBuilds(web: WebFactory, id: string): Promise<{ build: string; failed: string }> {
  const page = await web.open();
  const build = await startBuild(page, id, "v1.13.2");
  await page.locator('[data-state="ready"]').waitFor({ timeout: 150_000 });
  web.breakSource(true);
  const failed = await startBuild(page, id, "v1.12.4");
  await page.locator('[data-state="failed"]').waitFor({ timeout: 150_000 });
  web.breakSource(false);
  await page.close();
  return { build, failed };
}

async function makePresets(web: WebFactory, schematic: string): Promise<string> {
  const machine = { schematic, version: "v1.13.2", arch: "amd64" };
  const presets = [
    {
      ...machine,
      name: "Rack in Lyon",
      platform: "metal",
      secureboot: true,
      labels: { site: "lyon", lab: "" },
    },
    { ...machine, name: "Proxmox workers", platform: "nocloud", labels: { env: "prod" } },
  ];
  const ids: string[] = [];
  for (const preset of presets) ids.push((await sendJson(`${web.url}/api/v1/presets`, preset)).body.id);
  return ids[0] ?? "";
}

/** One extension of one's own that is in use and a newer one with a warning that waits to be looked at. */
async function makeOwn(web: WebFactory): Promise<string> {
  const folder = join(web.factory.dataDir, "made");
  const address = `${web.url}/api/v1/extensions/team/chaos-daemon`;
  await uploadPin(await packChaos(folder, { version: "v1.0.0" }), address);
  return (await uploadPin(await packChaos(folder, { version: "v1.1.0" }, withWarning), address)).sourceId;
}

/** Makes what the pages show and names the page of each picture. */
async function preparePages(web: WebFactory): Promise<Record<string, Picture>> {
  const id = await web.factory.schematic(SCHEMATIC);
  const old = await web.factory.schematic(OLD);
  const { build, failed } = await makeBuilds(web, id);
  const preset = await makePresets(web, id);
  const own = await makeOwn(web);
  const paths: Record<string, string> = {
    form: FORM,
    "form-problems": "/?target=sbc&board=rpi_5&version=1.9.5&extensions=siderolabs/i915",
    open: "/open",
    result: `/schematics/${id}?${MACHINE}`,
    ...{ build, failed, builds: "/builds" },
    catalog: "/catalog",
    releases: "/catalog?list=releases",
    extension: "/catalog/extensions/siderolabs/i915?talos=v1.13.2&arch=amd64&read=true",
    overlay: "/catalog/overlays/rpi_generic",
    compare: `/compare?a=${old}@v1.12.4&b=${id}@v1.13.2`,
    "compare-form": "/compare",
    upgrade: `/upgrade?id=${old}&from=v1.12.4&to=v1.13.2`,
    "upgrade-form": "/upgrade",
    presets: "/presets",
    "preset-new": `/presets/new?schematic=${id}&${MACHINE}`,
    preset: `/presets/${preset}`,
    status: "/status",
    own: "/extensions",
    "own-source": `/extensions/${own}`,
    api: "/api",
    missing: "/nowhere",
  };
  return {
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, { path }])),
    "form-fr": { path: FORM, locale: "fr-FR" },
    "result-fr": { path: `/schematics/${id}?${MACHINE}`, locale: "fr-FR" },
  };
}

/** Fewer colours: a quarter of the bytes, and nothing that an eye misses. */
async function shrink(file: string): Promise<number> {
  await execute("convert", [file, "+dither", "-colors", String(COLOURS), "-strip", `PNG8:${file}`]);
  const { size } = await stat(file);
  if (size > LARGEST_BYTES) throw new Error(`${file} has ${size} bytes, more than ${LARGEST_BYTES}`);
  return size;
}

async function takePicture(
  web: WebFactory,
  name: string,
  { path, locale = "en-US" }: Picture,
): Promise<void> {
  for (const [size, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of THEMES) {
      const viewport = { width, height: size === "narrow" ? 844 : 900 };
      const page = await web.open({ colorScheme, viewport, locale });
      await page.goto(path, { waitUntil: "networkidle" });
      const file = join(FOLDER, `${name}-${width}-${colorScheme}.png`);
      // As tall as the page, so that bars at the bottom are there; the API page goes on for as long as there are paths.
      const tall = await page.evaluate(() => document.documentElement.scrollHeight);
      if (name !== "api") await page.setViewportSize({ width, height: tall });
      await page.screenshot({ path: file });
      console.log(`${file} ${((await shrink(file)) / 1000).toFixed(0)} kB`);
      await page.close();
    }
  }
}

/** Refuses a folder that a clone would be sorry for. */
async function checkFolder(): Promise<void> {
  const sizes = (await readdir(FOLDER)).map(async (name) => (await stat(join(FOLDER, name))).size);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  if (bytes > MOST_BYTES) throw new Error(`${FOLDER} has ${bytes} bytes, more than ${MOST_BYTES}`);
  console.log(`${sizes.length} pictures, ${(bytes / 1e6).toFixed(1)} MB`);
}

const web = await startWebFactory({ OWN_EXTENSIONS: "everyone" });
try {
  if (only.length === 0) await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const pages = await preparePages(web);
  for (const [name, picture] of Object.entries(pages))
    if (only.length === 0 || only.includes(name)) await takePicture(web, name, picture);
  await checkFolder();
} finally {
  await web.stop();
}
