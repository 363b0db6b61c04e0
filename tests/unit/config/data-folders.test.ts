/** The pages that tell what lies below DATA_DIR name all of it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { KEPT, PASSING, RUNNING } from "../../../lib/config/data-folders.ts";

/** Cells of the rows of the table below a heading. */
function table(page: string, heading: string): string[][] {
  const text = readFileSync(page, "utf8").split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
}

/** Names in a cell, without what stands for a name and without slashes at the end. */
const named = (cell = ""): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace(/\/([^/]*<.*)?$/, ""));

const where = table("docs/running.md", "What is where");
const onDisk = table("docs/builds.md", "On disk, below DATA_DIR");

it("running.md names everything, and what a backup needs", () => {
  const names = where.flatMap(([, name]) => named(name));
  expect(names.sort()).toEqual([...KEPT, ...RUNNING, ...PASSING].sort());
  const saved = where.filter(([, , , backup]) => backup === "yes").flatMap(([, name]) => named(name));
  expect(saved.sort()).toEqual([...KEPT].sort());
});

it("builds.md names all that may be deleted", () => {
  expect(onDisk.flatMap(([, name]) => named(name)).sort()).toEqual([...PASSING].sort());
});
