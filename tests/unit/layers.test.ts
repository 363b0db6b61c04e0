/** The table of folders in docs/ARCHITECTURE.md and the rules that are enforced say the same. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { z } from "zod";

const PREFIX = "imports-of-";
const rulesSchema = z.object({
  forbidden: z.array(z.object({ name: z.string(), to: z.object({ pathNot: z.string().default("") }) })),
});
const { forbidden } = rulesSchema.parse(createRequire(import.meta.url)("../../.dependency-cruiser.cjs"));
const rules = forbidden.filter(({ name }) => name.startsWith(PREFIX));

const page = readFileSync("docs/ARCHITECTURE.md", "utf8");
const [table = ""] = (page.split("| folder | what | may import")[1] ?? "").split("\n\n");
const rows = table
  .split("\n")
  .slice(2)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, folder = "", , others = ""]) => ({
    name: (/^`([^`*]+?)\/?[`*]/.exec(folder)?.[1] ?? "").replace(/\.ts$/, ""),
    others: others === "" ? [] : others.split(", "),
  }))
  .filter(({ name }) => name !== "prisma");

/** `lib/oci/` as the table writes it: oci. */
const written = (pattern: string): string =>
  pattern
    .replace(/\\\.ts\$$/, "")
    .replace(/\/$/, "")
    .replace(/^lib\//, "");

it.each(rows)("$name may import what the table says", ({ name, others }) => {
  const rule = rules.find((one) => one.name.slice(PREFIX.length).replace(/\.ts$/, "") === name);
  const allowed = /^\^\((.*)\)$/.exec(rule?.to.pathNot ?? "")?.[1]?.split("|") ?? [];
  expect(new Set(allowed.map(written))).toEqual(new Set([written(name), "errors", ...others]));
});

it("has a row for each rule", () => {
  expect(rows).toHaveLength(rules.length);
});
