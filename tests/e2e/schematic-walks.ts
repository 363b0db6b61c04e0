/** What people do with a schematic that exists: open and change it, build it after a failure, compare it, upgrade it. */
import { expect, it } from "vitest";
import type { Language } from "../../components/words/translator.ts";
import { schematicId } from "../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { bytesAt, downloadReady } from "../fixtures/downloads.ts";
import {
  create,
  openFiles,
  startBuild,
  startWalk,
  storedSchematic,
  type TheFactory,
  type Walker,
} from "./walker.ts";

/** Everything that a careless form could lose. */
const richSchematic = (extensions: string[]) =>
  [
    "customization:",
    "  extraKernelArgs: ['dyndbg=module zfs +p', -console]",
    "  meta: [{key: 0xc, value: mine}]",
    `  systemExtensions: {officialExtensions: [${extensions.map((name) => `siderolabs/${name}`).join(", ")}]}`,
    "  secureboot: {includeWellKnownCertificates: true}",
    "  diskImage: {sectorSize: 4096}",
  ].join("\n");

const withExtensions = (...names: string[]) =>
  `customization: {systemExtensions: {officialExtensions: [${names.map((name) => `siderolabs/${name}`).join(", ")}]}}`;

/** Takes qemu-guest-agent out of the opened form and sees that nothing else went with it. */
async function takeAgentOut(walker: Walker, before: string): Promise<void> {
  const { page } = walker;
  await page.waitForURL(`**/?from=${before}**`);
  await page.getByRole("checkbox", { name: /qemu-guest-agent/ }).uncheck();
  const id = await create(walker);
  const wanted = parseSchematic(richSchematic(["iscsi-tools", "drbd"]));
  expect(await storedSchematic(walker, id)).toEqual(wanted);
  expect(id).toBe(schematicId(wanted));
  expect(id).not.toBe(before);
}

/** Opening, comparing, checking an upgrade. */
export function schematicWalks(web: TheFactory, language: Language): void {
  const rich = richSchematic(["iscsi-tools", "qemu-guest-agent", "drbd"]);

  it("opens an ID, takes one thing out and keeps the rest", async () => {
    const walker = await startWalk(web(), language);
    const { page, words } = walker;
    const before = await web().factory.schematic(rich);
    await page.locator("summary", { hasText: words.t("open.title") }).click();
    await page.getByLabel(words.t("open.hint")).fill(before);
    await page.getByRole("button", { name: words.t("open.button"), exact: true }).click();
    await takeAgentOut(walker, before);
    await page.close();
  });

  it("opens YAML, takes one thing out and keeps the rest", async () => {
    const walker = await startWalk(web(), language);
    const { page, words } = walker;
    await page.goto("/open");
    await page.getByRole("heading", { level: 1, name: words.t("open.title") }).waitFor();
    await page.getByRole("textbox").fill(rich);
    await page.getByRole("button", { name: words.t("open.button"), exact: true }).click();
    await takeAgentOut(walker, schematicId(parseSchematic(rich)));
    await page.close();
  });

  it("compares a schematic with another one", async () => {
    const walker = await startWalk(web(), language);
    const { page, words } = walker;
    const before = await web().factory.schematic(withExtensions("drbd"));
    const after = await web().factory.schematic(withExtensions("drbd", "i915"));
    await openFiles(walker, before, "version=v1.13.2&platform=metal&arch=amd64");
    await page.getByRole("link", { name: words.t("result.compare"), exact: true }).click();
    await page.getByRole("heading", { level: 1, name: words.t("compare.title") }).waitFor();
    await page.getByLabel(words.t("compare.after")).fill(after);
    await page.getByRole("button", { name: words.t("compare.show"), exact: true }).click();
    const text = page.getByRole("region", { name: words.t("compare.text") });
    expect(await text.locator("ins").allInnerTexts()).toEqual([expect.stringContaining("siderolabs/i915")]);
    expect(await text.locator("del").count()).toBe(0);
    await page.close();
  });

  it("checks an upgrade and creates the schematic that fits", async () => {
    const walker = await startWalk(web(), language);
    const { page, words } = walker;
    const old = await web().factory.schematic(withExtensions("qemu-guest-agent", "i915-ucode"));
    await openFiles(walker, old, "version=v1.12.4&platform=metal&arch=amd64");
    await page.getByRole("link", { name: words.t("result.upgrade-check"), exact: true }).click();
    await page.getByRole("heading", { level: 1, name: words.t("upgrade.title") }).waitFor();
    await page.getByText(words.plural("upgrade.fits-changed", 1)).waitFor();
    await page.getByRole("button", { name: words.t("upgrade.create"), exact: true }).click();
    await page.waitForURL("**/schematics/**version=v1.13.2**");
    await page.getByRole("heading", { name: words.t("result.files"), exact: true }).waitFor();
    const id = schematicId(parseSchematic(withExtensions("qemu-guest-agent", "i915")));
    expect(page.url()).toContain(`/schematics/${id}?`);
    await page.getByText(`/metal-installer/${id}:v1.13.2`).first().waitFor();
    await page.close();
  });
}

/** A build whose source lost its files, from the report to the file. Each language needs a version nobody built yet. */
export function failureWalk(web: TheFactory, language: Language, version: string): void {
  it("reads why a build failed, builds again and gets the file", async () => {
    const walker = await startWalk(web(), language);
    const { page, words } = walker;
    const id = await web().factory.schematic(`customization: {extraKernelArgs: [again=${language}]}`);
    await openFiles(walker, id, `version=${version}&platform=metal&arch=amd64`);
    web().breakSource(true);
    try {
      await startBuild(walker, "metal-amd64.iso");
      await page.getByRole("heading", { name: words.t("failure.title") }).waitFor({ timeout: 120_000 });
      expect(await page.getByText(words.t("failure.hint"), { exact: true }).count()).toBe(1);
    } finally {
      web().breakSource(false);
    }
    const failed = page.url();
    await page.getByRole("button", { name: words.t("build.again"), exact: true }).click();
    await page.waitForURL((url) => url.href !== failed);
    const { path } = await downloadReady(page, words.t("file.download"));
    expect((await bytesAt(path, 0x8001, 5)).toString()).toBe("CD001");
    await page.close();
  });
}
