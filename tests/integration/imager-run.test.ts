import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BuildProgress } from "../../lib/imager/types.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  extensions,
  manifest,
  sha256,
} from "../fixtures/imager-boot-fixture.ts";
import { noise } from "../fixtures/imager-disk-fixture.ts";

let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop();
  await shop.addExtension("one", {
    "manifest.yaml": manifest("one"),
    "rootfs/usr/local/one": noise(50_000, 1),
  });
});
afterAll(() => shop?.close());

const phases = (events: BuildProgress[]) => events.filter((event) => event.type === "phase");

describe("runPlan", () => {
  it("takes every kept part as it is when the same is asked again", async () => {
    const recipe = bootRecipe("initramfs", { extensions: extensions("one") });
    const first = await shop.build(recipe, "lazy");
    const second = await shop.build(recipe, "lazy");
    const [before, after] = [await readFile(first.product.path), await readFile(second.product.path)];
    expect(after.equals(before)).toBe(true);
    const made = phases(second.events).filter((event) => event.type === "phase" && !event.cached);
    expect(made.map((event) => event.type === "phase" && event.title).sort()).toEqual([
      "Append the extensions to the initramfs",
      "Fetch usr/install/amd64/initramfs.xz of siderolabs/imager",
      "Make the extension that names the schematic",
    ]);
  });

  it("with other arguments only makes what they reach, and fetches no extension", async () => {
    const recipe = bootRecipe("iso", { extensions: extensions("one") });
    await shop.build(recipe, "arguments");
    const { events } = await shop.build(
      { ...recipe, schematicId: "c".repeat(64), extraKernelArgs: ["nosmt"] },
      "arguments",
    );
    const made = phases(events).filter(
      (event) => event.type === "phase" && !event.cached && event.phase !== "fetch",
    );
    expect(made.map((event) => event.type === "phase" && event.title).sort()).toEqual([
      "Append the extensions to the initramfs",
      "Make the extension that names the schematic",
      "Put stub, kernel, initramfs and command line into one EFI program",
      "Write the ISO image",
    ]);
    expect(JSON.stringify(events)).not.toContain("Fetch siderolabs/one");
  });

  it("numbers what is to do from 1 to n, each begun and ended once", async () => {
    const { events } = await shop.build(bootRecipe("iso", { extensions: extensions("one") }));
    const begun = phases(events).map((event) => (event.type === "phase" ? event.step : 0));
    const ended = events
      .filter((event) => event.type === "done")
      .map((event) => (event.type === "done" ? event.step : 0));
    const numbers = begun.map((_, index) => index + 1);
    expect([...begun].sort((a, b) => a - b)).toEqual(numbers);
    expect([...ended].sort((a, b) => a - b)).toEqual(numbers);
    expect(phases(events).every((event) => event.type === "phase" && event.of === numbers.length)).toBe(true);
  });

  it("ends as cancelled when the signal says so, and leaves nothing running", async () => {
    const stop = new AbortController();
    const building = shop.build(
      bootRecipe("iso", { extensions: extensions("one") }),
      "cancelled",
      stop.signal,
    );
    setTimeout(() => stop.abort(), 20);
    await expect(building).rejects.toMatchObject({ code: "cancelled" });
  });

  it("says phase and step of what failed, and why", async () => {
    const recipe = bootRecipe("initramfs", { extensions: extensions("one", "missing") });
    await expect(shop.build(recipe)).rejects.toMatchObject({
      code: "build_failed",
      extra: {
        details: {
          phase: "fetch",
          step: "Fetch siderolabs/missing",
          reason: "no tree for siderolabs/missing",
        },
      },
    });
  });

  it("gives the kernel of the release byte for byte, and the command line without a line end", async () => {
    const kernel = await shop.build(bootRecipe("kernel"));
    expect(await sha256(kernel.product.path)).toBe(await sha256(join(shop.dir, "vmlinuz")));
    const cmdline = await shop.build(bootRecipe("cmdline", { extraKernelArgs: ["a=b"] }));
    expect(await readFile(cmdline.product.path, "utf8")).toMatch(/ a=b$/);
  });
});
