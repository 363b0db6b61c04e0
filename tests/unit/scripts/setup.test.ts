/** The setup asks the right questions without any package installed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { TOOLS } from "../../../lib/exec/tools.ts";
import { complaints, missingPackages, toolPackages } from "../../../scripts/setup/debian.mjs";
import { hashOf, isStamped, stamp } from "../../../scripts/setup/files.mjs";

const dir = mkdtempSync(join(tmpdir(), "casthouse-setup-"));
const home = process.cwd();
afterAll(() => {
  process.chdir(home);
  rmSync(dir, { recursive: true, force: true });
});

it("reads every imaging tool and its package from the allow-list", () => {
  const read = Object.fromEntries(toolPackages().map(({ program, name }) => [program, name]));
  expect(read).toEqual(TOOLS);
});

it("knows the groups, each holding the one before", () => {
  for (const group of ["run", "demo", "test"]) expect(Array.isArray(missingPackages(group))).toBe(true);
});

it("says briefly what apt-get complained of, and that the servers were not reached", () => {
  const failed = (host: string) =>
    `E: Failed to fetch http://${host}/a.deb  Temporary failure resolving '${host}'`;
  const stderr = [..."abcdefgh"].map((letter) => failed(`${letter}.example`)).join("\n");
  const text = complaints({ stdout: "Reading package lists...\n", stderr });
  expect(text.match(/Failed to fetch/g)).toHaveLength(6);
  expect(text).toContain("reaches its package servers");
  const unknown = complaints({ stdout: "", stderr: "E: Unable to locate package nothing\n" });
  expect(unknown).toBe("; it says:\n  E: Unable to locate package nothing");
});

it("sees a changed, a new and a renamed file", () => {
  const source = join(dir, "source");
  mkdirSync(join(source, "deep"), { recursive: true });
  writeFileSync(join(source, "deep/a"), "1");
  const keys = [hashOf([source])];
  writeFileSync(join(source, "deep/a"), "2");
  keys.push(hashOf([source]));
  writeFileSync(join(source, "b"), "");
  keys.push(hashOf([source]));
  keys.push(hashOf([source, join(dir, "absent")]));
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe(keys[3]);
});

it("counts a step as done only with its key and its product", () => {
  process.chdir(dir);
  writeFileSync("product", "");
  expect(isStamped("step", "k", "product")).toBe(false);
  stamp("step", "k");
  expect(isStamped("step", "k", "product")).toBe(true);
  expect(isStamped("step", "other", "product")).toBe(false);
  expect(isStamped("step", "k", "gone")).toBe(false);
});
