/** Scratch folders of looks into own images: gone after the work, and after the death of who worked. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createInspection } from "../../lib/services/own-inspection.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-inspection-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const unused = () => Promise.reject(new Error("is not asked for"));
const inspection = () =>
  createInspection({ images: { extract: unused }, check: unused, scratchDir: join(dir, "own"), maxBytes: 1 });

it("is removed after the work, also when that fails", async () => {
  const { inScratch } = inspection();
  const where = await inScratch(async (scratch) => scratch);
  await expect(inScratch(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect([existsSync(where), await readdir(join(dir, "own"))]).toEqual([false, []]);
});

it("is removed a day after its process was killed, and not while somebody works in it", async () => {
  const { sweep } = inspection();
  await sweep(Date.now());
  for (const [name, hours] of [
    ["left", 25],
    ["used", 1],
  ] as const) {
    await mkdir(join(dir, "own", name), { recursive: true });
    const at = Date.now() / 1000 - hours * 3_600;
    await utimes(join(dir, "own", name), at, at);
  }
  await sweep(Date.now());
  expect(await readdir(join(dir, "own"))).toEqual(["used"]);
});
