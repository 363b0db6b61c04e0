/** Scratch folders of looks into own images: gone after the work. */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createInspection } from "../../../../lib/services/own/inspection.ts";

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
