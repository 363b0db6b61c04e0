/** Somebody who walks through the pages in one language, and the steps that most walks share. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { createWords, type Language, type Words } from "../../components/words/translator.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import type { Schematic } from "../../lib/domain/schematic-types.ts";
import en from "../../messages/en.json" with { type: "json" };
import fr from "../../messages/fr.json" with { type: "json" };
import type { WebFactory } from "../fixtures/browser.ts";
import { type Arrived, downloadAtOnce, downloadReady } from "../fixtures/downloads.ts";

export interface Walker {
  web: WebFactory;
  page: Page;
  words: Words;
}

/** Gives the factory that all walks of a file share, once it runs. */
export type TheFactory = () => WebFactory;

const WORDS: Record<Language, Words> = { en: createWords("en", en), fr: createWords("fr", fr) };

/** React keeps its own property on each element that it has taken over. */
const takenOver = () =>
  Object.keys(document.querySelector("form[action='/create']") ?? {}).some((key) =>
    key.startsWith("__react"),
  );

/** Opens the form and switches to the language by the button that says so. */
export async function startWalk(
  web: WebFactory,
  language: Language,
  options: BrowserContextOptions = {},
): Promise<Walker> {
  const page = await web.open(options);
  const words = WORDS[language];
  await page.goto("/");
  if (language === "fr") await page.getByRole("button", { name: "Français" }).click();
  await page.getByRole("heading", { level: 1, name: words.t("form.title") }).waitFor();
  if (options.javaScriptEnabled !== false) await page.waitForFunction(takenOver);
  return { web, page, words };
}

const idInAddress = (page: Page): string => new URL(page.url()).pathname.slice("/schematics/".length);

/** Creates what was chosen, arrives at its files and gives its ID. */
export async function create({ page, words }: Walker): Promise<string> {
  await page
    .getByRole("complementary")
    .getByRole("button", { name: words.t("form.create") })
    .click();
  await page.waitForURL("**/schematics/**");
  await page.getByRole("heading", { name: words.t("result.files"), exact: true }).waitFor();
  return idInAddress(page);
}

/** Opens the files of a schematic for a machine. */
export async function openFiles({ page, words }: Walker, id: string, query: string): Promise<void> {
  await page.goto(`/schematics/${id}?${query}`);
  await page.getByRole("heading", { name: words.t("result.files"), exact: true }).waitFor();
}

/** Starts the build of a file from the page of its schematic and arrives at the page of the build. */
export async function startBuild({ page, words }: Walker, file: string): Promise<void> {
  await page.getByRole("button", { name: `${words.t("file.build")} ${file}`, exact: true }).click();
  await page.waitForURL("**/builds/*");
}

/** Gets a file from the page of its schematic: built first unless somebody did that before. Checked in both cases. */
export async function getFile(walker: Walker, file: string): Promise<Arrived> {
  const { page, words } = walker;
  const label = `${words.t("file.download")} ${file}`;
  const build = page.getByRole("button", { name: `${words.t("file.build")} ${file}`, exact: true });
  await build.or(page.getByRole("link", { name: label, exact: true })).waitFor();
  if (!(await build.isVisible())) return downloadAtOnce(page, label);
  await startBuild(walker, file);
  return downloadReady(page, words.t("file.download"));
}

/** The schematic that is stored under an ID. */
export async function storedSchematic({ web }: Walker, id: string): Promise<Schematic> {
  return parseSchematic(await (await fetch(`${web.url}/schematics/${id}`)).text());
}
