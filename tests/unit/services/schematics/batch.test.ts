/** How inserts are gathered. */
import { expect, test } from "vitest";
import type { SchematicRepository, SchematicRow } from "../../../../lib/db/schematic-repository.ts";
import { SchematicBatch } from "../../../../lib/services/schematics/batch.ts";

function batches() {
  const written: string[][] = [];
  const repository: Pick<SchematicRepository, "insertMany"> = {
    async insertMany(rows) {
      written.push(rows.map((row) => row.id));
      if (rows.some((row) => row.id === "broken")) throw new Error("refused");
    },
  };
  return { written, batch: new SchematicBatch(repository as SchematicRepository) };
}
const row = (id: string, characters: number): SchematicRow => ({
  id,
  canonical: "x".repeat(characters),
  parsed: {},
});

test("small ones share a statement, large ones do not", async () => {
  const { written, batch } = batches();
  const rows = [row("a", 10), row("b", 10), row("c", 8_000_000), row("d", 3_000_000), row("e", 2_000_000)];
  await Promise.all(rows.map((one) => batch.insert(one)));
  expect(written).toEqual([["a", "b"], ["c"], ["d"], ["e"]]);
});

test("at most 200 rows go together", async () => {
  const { written, batch } = batches();
  await Promise.all(Array.from({ length: 450 }, (_, i) => batch.insert(row(String(i), 1))));
  expect(written.map((ids) => ids.length)).toEqual([200, 200, 50]);
});

test("a refused statement fails only those in it", async () => {
  const { batch } = batches();
  const ends = await Promise.allSettled([
    batch.insert(row("broken", 3_000_000)),
    batch.insert(row("fine", 3_000_000)),
  ]);
  expect(ends.map((end) => end.status)).toEqual(["rejected", "fulfilled"]);
});
