/** The numbered golden facts about images: each is a test that carries its number in its name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { vectorFile } from "../fixtures/vector-files.ts";

const TESTS = join(import.meta.dirname, "..");
const LAST = 111;

/** Numbers in the first words of names of tests, and in the rows whose names tests take from a file. */
function numbersInNames(): Set<number> {
  const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".test.ts"),
  );
  const named = files.flatMap((file) => {
    const text = readFileSync(join(TESTS, file), "utf8");
    return [...text.matchAll(/["'`](G\d+(?: and G\d+)?)\b/g)].flatMap(
      ([, words = ""]) => words.match(/\d+/g) ?? [],
    );
  });
  const rows = vectorFile<{ id: string }[]>("command-line-golden.json").map(({ id }) => id.slice(1));
  return new Set([...named, ...rows].map(Number));
}

it("there is a test for every golden fact", () => {
  const numbers = numbersInNames();
  const missing = Array.from({ length: LAST }, (_, index) => index + 1).filter(
    (number) => !numbers.has(number),
  );
  expect(missing).toEqual([]);
});
