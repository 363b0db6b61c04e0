/** The form by keys alone: machine, version, extension, argument, create, build; each stop is seen and in its order. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { startWalk, storedSchematic, type TheFactory } from "./walker.ts";

interface Stop {
  /** Part of the page. */
  part: string;
  /** What has the focus, for messages. */
  what: string;
  /** True: an outline shows it. */
  seen: boolean;
  /** True: it lies within the window. */
  within: boolean;
}

/** Describes what has the focus. Runs in the page. */
function readStop(): Stop {
  const focused = document.activeElement ?? document.body;
  // A tile shows the focus of the radio button in it.
  const shown = [focused, focused.closest(".choice")].some((one) => {
    if (one === null) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  });
  const box = focused.getBoundingClientRect();
  const form = focused.closest("form[action='/create']");
  const part = focused.closest(
    form === null ? "header, main, footer" : "section[id], details[id], aside[id]",
  );
  return {
    part: part?.id || (part?.localName ?? ""),
    what: focused.outerHTML.slice(0, 120),
    seen: shown,
    within: box.bottom > 0 && box.top < innerHeight,
  };
}

/** Presses Tab until the focus is on what matches; every stop on the way is kept. */
async function tabTo(page: Page, selector: string, stops: Stop[]): Promise<void> {
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate(readStop));
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  throw new Error(`Tab never reached ${selector}: ${stops.map(({ what }) => what).join("\n")}`);
}

/** Goes down a closed list to a value: typing its name would depend on how fast the keys come. */
async function arrowTo(page: Page, value: string): Promise<void> {
  const list = page.locator("select:focus");
  for (let count = 0; (await list.inputValue()) !== value; count++) {
    expect(count).toBeLessThan(20);
    await page.keyboard.press("ArrowDown");
  }
}

const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Parts in the order in which the focus went through them. */
const partsOf = (stops: Stop[]): string[] =>
  stops.map(({ part }) => part).filter((part, index, all) => part !== all[index - 1]);

/** The whole way on one page after the other. */
export function keyboardWalk(web: TheFactory): void {
  it("chooses machine, version, extension and argument, creates, and builds", async () => {
    const walker = await startWalk(web(), "en");
    const { page } = walker;
    const stops: Stop[] = [];
    await tabTo(page, "a[href='#main']", stops);
    await press(page, "Enter");
    await tabTo(page, "input[name=target]", stops);
    await press(page, "ArrowDown");
    await tabTo(page, "input[name=platform]", stops);
    await page.locator("input[name=platform]:focus").waitFor();
    await tabTo(page, "select[name=version]", stops);
    await arrowTo(page, "1.12.4");
    await tabTo(page, "input[name=search]", stops);
    await page.keyboard.type("agent");
    await press(page, "ArrowDown", "Space");
    stops.push(await page.evaluate(readStop));
    await tabTo(page, "textarea[name=cmdline]", stops);
    await page.keyboard.type("keys=1");
    await expect.poll(() => page.url()).toContain("cmdline=keys");
    await tabTo(page, "button[value=create]", stops);
    expect(partsOf(stops)).toEqual([
      ...["header", "main", "machine", "version", "arch", "extensions", "arguments"],
      ...["bootloader", "meta", "config", "casting"],
    ]);
    await press(page, "Enter");
    await page.waitForURL("**/schematics/**");
    const { pathname, search } = new URL(page.url());
    expect(await storedSchematic(walker, pathname.slice("/schematics/".length))).toEqual({
      customization: {
        extraKernelArgs: ["keys=1"],
        systemExtensions: { officialExtensions: ["siderolabs/qemu-guest-agent"] },
      },
    });
    expect(search).toContain("version=v1.12.4");
    const after: Stop[] = [];
    await tabTo(page, "form[action='/builds/start'] button", after);
    await press(page, "Enter");
    await page.waitForURL("**/builds/*");
    for (const stop of [...stops, ...after]) expect(stop).toMatchObject({ seen: true, within: true });
    await page.locator('[data-state="ready"]').waitFor({ timeout: 150_000 });
    await page.close();
  });
}
