/** A preset from its birth to its end: kept, found by label, opened, copied, renamed, taken out and brought back, forgotten. */
import { readFile } from "node:fs/promises";
import type { BrowserContextOptions } from "playwright-core";
import { expect, it } from "vitest";
import type { Language } from "../../components/words/translator.ts";
import { openFiles, startWalk, type TheFactory, type Walker } from "./walker.ts";

const SCHEMATIC = "customization: {extraKernelArgs: [preset=1]}";
const MACHINE = "version=v1.12.4&platform=nocloud&arch=arm64&secureboot=true";

/** Fills in the form of a preset and saves it. */
async function save({ page, words }: Walker, fields: { name: string; labels?: string }): Promise<void> {
  await page.getByLabel(words.t("preset.name"), { exact: true }).fill(fields.name);
  if (fields.labels !== undefined) await page.locator("input[name=labels]").fill(fields.labels);
  await page.getByRole("button", { name: words.t("preset.save"), exact: true }).click();
}

/** The link or button of one preset in the list. */
const ofPreset = (
  { page, words }: Walker,
  role: "link" | "button",
  what: Parameters<Walker["words"]["t"]>[0],
  name: string,
) => page.getByRole(role, { name: `${words.t(what)} ${name}`, exact: true });

const named = ({ page }: Walker, name: string) => page.getByRole("link", { name, exact: true });

async function keep(walker: Walker, name: string, labels: string): Promise<void> {
  const { page, words, web } = walker;
  await openFiles(walker, await web.factory.schematic(SCHEMATIC), MACHINE);
  await page.getByRole("link", { name: words.t("preset.new"), exact: true }).click();
  await page.getByRole("heading", { level: 1, name: words.t("preset.new") }).waitFor();
  await page.getByText("v1.12.4 · nocloud · arm64 · SecureBoot").waitFor();
  await save(walker, { name, labels });
  await named(walker, name).waitFor();
}

/** The form opens for the machine that was kept, and so do the files. */
async function openBoth(walker: Walker, name: string): Promise<void> {
  const { page, words } = walker;
  await ofPreset(walker, "link", "preset.open", name).click();
  await page.getByRole("heading", { level: 1, name: words.t("form.title") }).waitFor();
  expect(await page.locator("select[name=version]").inputValue()).toBe("1.12.4");
  for (const choice of ["target][value=cloud", "platform][value=nocloud", "arch][value=arm64", "secureboot"])
    expect(await page.locator(`input[name=${choice}]`).isChecked(), choice).toBe(true);
  expect(await page.locator("textarea[name=cmdline]").inputValue()).toBe("preset=1");
  await page.goto("/presets");
  await named(walker, name).click();
  await page.getByRole("heading", { name: "nocloud-arm64-secureboot.raw.xz" }).waitFor();
  await page.goto("/presets");
}

async function copyAndRename(walker: Walker, name: string, other: string): Promise<void> {
  await ofPreset(walker, "button", "preset.copy", name).click();
  await ofPreset(walker, "link", "preset.edit", `${name} 2`).click();
  // A name that somebody has already leads back to the field with all that was typed.
  await save(walker, { name: name.toUpperCase() });
  await walker.page.getByText(walker.words.t("preset.problem.taken")).waitFor();
  await save(walker, { name: other });
  await named(walker, other).waitFor();
  expect(await named(walker, `${name} 2`).count()).toBe(0);
}

async function forget(walker: Walker, name: string): Promise<void> {
  const { page, words } = walker;
  await ofPreset(walker, "link", "preset.edit", name).click();
  await page.getByRole("button", { name: words.t("preset.delete"), exact: true }).click();
  await page.waitForURL("**/presets");
  expect(await named(walker, name).count()).toBe(0);
}

/** All of it, in one language, with scripts or without. */
export function presetWalk(web: TheFactory, language: Language, options: BrowserContextOptions): void {
  it(`are kept, found, changed and carried ${options.javaScriptEnabled ? "with" : "without"} scripts`, async () => {
    const walker = await startWalk(web(), language, options);
    const { page, words } = walker;
    const [name, other] = [`rack ${language}`, `shelf ${language}`];
    await keep(walker, name, `lab, site=${language}`);
    await keep(walker, other, "lab");
    await page.getByRole("link", { name: `site=${language}`, exact: true }).click();
    await page.getByText(words.t("preset.filtered", { label: `site=${language}` })).waitFor();
    expect([await named(walker, name).count(), await named(walker, other).count()]).toEqual([1, 0]);
    await page.getByRole("link", { name: words.t("preset.all"), exact: true }).click();
    await openBoth(walker, name);
    await forget(walker, other);
    await copyAndRename(walker, name, other);
    const waiting = page.waitForEvent("download");
    await ofPreset(walker, "link", "preset.export", name).click();
    const text = await readFile(await (await waiting).path(), "utf8");
    expect(text).toContain("preset=1");
    await forget(walker, name);
    await page.locator("summary", { hasText: words.t("preset.import") }).click();
    await page.getByLabel(words.t("preset.import.hint")).fill(text);
    await page.getByRole("button", { name: words.t("preset.import.do"), exact: true }).click();
    await named(walker, name).waitFor();
    expect(await page.getByRole("link", { name: `site=${language}`, exact: true }).count()).toBe(2);
    await page.close();
  });
}
