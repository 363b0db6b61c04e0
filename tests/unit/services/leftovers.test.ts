import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { removeLeftovers } from "../../../lib/services/leftovers.ts";

const dir = await mkdtemp(join(tmpdir(), "casthouse-leftovers-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

it("are removed a day after their process was killed, and not while somebody works in them", async () => {
  const folders = ["missing", "one", "two"].map((name) => join(dir, name));
  for (const folder of folders.slice(1)) {
    for (const [name, hours] of [
      ["left", 25],
      ["used", 1],
    ] as const) {
      await mkdir(join(folder, name, "tree"), { recursive: true });
      const at = Date.now() / 1000 - hours * 3_600;
      await utimes(join(folder, name), at, at);
    }
  }
  await removeLeftovers(folders, Date.now());
  expect(await Promise.all(folders.slice(1).map((folder) => readdir(folder)))).toEqual([["used"], ["used"]]);
});
