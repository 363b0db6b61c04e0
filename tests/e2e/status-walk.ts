/** What the factory says of itself: who works, what waits, in which place, and what was made. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { startWalk, type TheFactory, type Walker } from "./walker.ts";

/** The number above a word of the status page. */
async function figure({ page }: Walker, word: string): Promise<number> {
  const term = page.getByRole("term").filter({ hasText: new RegExp(`^${word}$`) });
  return Number(await term.locator("xpath=following-sibling::dd").textContent());
}

/** Asks for a file without waiting for it and gives the path of its build. */
async function ask({ web }: Walker, schematic: string, file: string): Promise<string> {
  const reply = await fetch(`${web.url}/image/${schematic}/v1.13.2/${file}`, {
    headers: { Prefer: "respond-async" },
  });
  expect(reply.status).toBe(202);
  const { id }: { id: string } = await reply.json();
  return `/builds/${id}`;
}

async function cancel(page: Page, path: string, label: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: label, exact: true }).click();
  await page.locator('[data-state="cancelled"]').waitFor({ timeout: 60_000 });
}

/** Needs a factory that builds one file at a time. */
export function statusWalk(web: TheFactory): void {
  it("shows a worker, what it does, what waits for it and what is ready", async () => {
    const walker = await startWalk(web(), "fr");
    const { page, words } = walker;
    const { t } = words;
    const schematic = await web().factory.schematic("customization: {extraKernelArgs: [status=1]}");
    // 11.7 GB have to be hashed for it: the next one waits long enough for the pages to open.
    const long = await ask(walker, schematic, "metal-amd64.vhd");
    const next = await ask(walker, schematic, "metal-arm64.iso");
    await page.goto(long);
    await page.locator('[data-state="building"]').waitFor();
    await page.goto(next);
    await page.getByText(t("build.position", { position: 1 })).waitFor();
    await page.goto("/status");
    await page.getByRole("heading", { level: 1, name: t("status.good") }).waitFor();
    expect(await figure(walker, t("state.queued"))).toBe(1);
    expect(await figure(walker, t("state.building"))).toBe(1);
    expect(await figure(walker, t("status.day.ready"))).toBeGreaterThan(0);
    const workers = page.getByRole("table", { name: t("status.workers") });
    expect(await workers.getByRole("cell").last().textContent()).toBe(t("status.of", { part: 1, whole: 1 }));
    await cancel(page, next, t("build.cancel"));
    await cancel(page, long, t("build.cancel"));
    await page.goto("/builds?state=cancelled");
    await page.getByRole("link", { name: "metal-amd64.vhd" }).waitFor();
    await page.goto("/status");
    expect(await figure(walker, t("state.queued"))).toBe(0);
    await page.close();
  });
}
