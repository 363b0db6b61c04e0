/** Texts made to exhaust a decoder: each is answered within a second, and by an AppError where nothing can be kept. */
import { describe, expect, it } from "vitest";
import { canonicalSchematic } from "../../../lib/domain/schematic-canonical.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import { AppError } from "../../../lib/errors/app-error.ts";

const MIB = 1024 * 1024;
const LIMIT_MS = 1000;

/** Runs the task and gives the processor time it took; the clock on the wall would count other programs too. */
function processorMs(task: () => void): number {
  const start = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** As many units as fit into 1 MiB between head and tail. */
const full = (unit: string, head = "", tail = ""): string =>
  head + unit.repeat(Math.floor((MIB - head.length - tail.length) / unit.length)) + tail;

const inOptions = (text: string): string => `overlay: {options: {${text}}}`;
const list = (length: number, item: (index: number) => string): string =>
  Array.from({ length }, (_, i) => item(i)).join(", ");

const bomb = inOptions(
  `b0: &b0 [${list(10, () => "x")}], ${list(8, (i) => `b${i + 1}: &b${i + 1} [${list(10, () => `*b${i}`)}]`)}`,
);

const refused: [name: string, text: string, words: string][] = [
  ["alias bomb", bomb, "excessive aliasing"],
  [
    "alias chain",
    inOptions(`a0: &a0 x, ${list(9000, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`)}`),
    "exceeded max depth",
  ],
  ["self reference", "overlay: {options: &x {a: *x}}", "value contains itself"],
  ["self reference in a merge", inOptions("a: &a {b: {<<: *a}}"), "value contains itself"],
  [
    "long text behind many aliases",
    `customization: {embeddedMachineConfiguration: &a ${"x".repeat(500_000)}, extraKernelArgs: [${list(9000, () => "*a")}]}`,
    "excessive aliasing",
  ],
  [
    "merges of a wide map",
    inOptions(`a: &a {${list(5000, (i) => `k${i}: 1`)}}, b: [${list(5000, () => "{<<: *a}")}]`),
    "excessive aliasing",
  ],
  ["10,000 nested lists", inOptions(`a: ${"[".repeat(10_000)}${"]".repeat(10_000)}`), "exceeded max depth"],
  ["1 MiB of [", full("["), "exceeded max depth"],
  ["1 MiB of {", full("{"), "exceeded max depth"],
  ["1 MiB of dashes", full("- "), "exceeded max depth"],
  ["1 MiB of question marks", full("? "), "exceeded max depth"],
  ["1 MiB of commas", full(",", "["), "tokens"],
  ["1 MiB of quotes", full('"'), "tokens"],
  ["500,000 list items", full("a,", "overlay: {options: {a: [", "]}}"), "tokens"],
  ["90,000 keys", inOptions(list(90_000, (i) => `k${i}: `)), "tokens"],
  ["20,000 equal keys", "a: 1\n".repeat(20_000), 'mapping key "a" already defined at line 1'],
  [
    "20,000 unknown fields",
    Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join(""),
    "field k999 not found",
  ],
  ["NUL inside", "customization: {extraKernelArgs: [a\0b]}", "control characters are not allowed (value: 0)"],
  ["1 MiB of NUL", full("\0"), "control characters are not allowed (value: 0)"],
  ["half a surrogate pair", "owner: \ud800", "invalid Unicode character"],
  ["half a surrogate pair, escaped", 'owner: "\\ud800"', "invalid Unicode character escape code"],
  ["1 MiB of tabs", full("\t"), "cannot start any token"],
  ["1 MiB of spaces", full(" "), "EOF"],
  ["foreign object tag", "customization: !!python/object/apply:os.system [id]\nx: 1", "field x not found"],
];

describe("hostile schematics", () => {
  it.each(refused)("%s is refused", (_name, text, words) => {
    let failure: unknown;
    const spent = processorMs(() => {
      try {
        parseSchematic(text);
      } catch (error) {
        failure = error;
      }
    });
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: "invalid_input" });
    expect(String(failure)).toContain(words);
    expect(String(failure).length).toBeLessThan(200_000);
    expect(spent).toBeLessThan(LIMIT_MS);
  });

  const accepted: [name: string, text: string][] = [
    ["45,000 documents", "customization: {}\n---\n".repeat(45_000)],
    ["lines of one character", `customization: {embeddedMachineConfiguration: "${"a\\n".repeat(340_000)}"}`],
    ["a number of a million digits", inOptions(`a: ${"9".repeat(1_000_000)}`)],
    ["keys that differ at their end", inOptions(list(1000, (i) => `${"x".repeat(900)}${i}: 1`))],
    ["keys of many digits", inOptions(list(100, (i) => `${"1".repeat(9000)}${i}: 1`))],
    ["a sexagesimal number that is none", inOptions(`a: 1${":1".repeat(500_000)}x`)],
    ["a date that is none", inOptions(`a: 2024-01-02T03:04:05.${"0".repeat(1_000_000)}x`)],
    ["binary data", inOptions(`a: !!binary ${"A".repeat(1_000_000)}`)],
  ];

  it.each(accepted)("%s is answered in time", (_name, text) => {
    let canonical = "";
    const spent = processorMs(() => {
      canonical = canonicalSchematic(parseSchematic(text));
    });
    expect(canonical).toContain("customization:");
    expect(spent).toBeLessThan(LIMIT_MS);
  });

  it("a text that grows beyond 8 MiB is refused as too large", () => {
    const text = `overlay: {options: ${"{a: ".repeat(90)}[${"a,".repeat(45_000)}]${"}".repeat(91)}`;
    expect(() => canonicalSchematic(parseSchematic(text))).toThrow("larger than 8 MiB");
  });

  it.each([
    ["46 equal keys of 22 kB that do not print", `? "${"\x7f".repeat(22_000)}"\n: 1\n`.repeat(46)],
    ["a long text with a wrong tag", inOptions(`a: !!int "${"x".repeat(MIB / 2)}"`)],
    ["a long unknown anchor", `overlay: *${"a".repeat(MIB / 2)}`],
  ])("%s makes no answer longer than the text", (_name, text) => {
    let message = "";
    try {
      parseSchematic(text);
    } catch (error) {
      if (error instanceof AppError) message = error.message;
    }
    expect(message).toContain("yaml");
    expect(message.length).toBeLessThan(text.length);
  });

  const said = (text: string): string => {
    try {
      parseSchematic(text);
    } catch (error) {
      if (error instanceof AppError) return error.message;
    }
    return "";
  };

  it.each([
    ["equal keys that do not print", `? "${"\\xad".repeat(5000)}"\n: 1\n`.repeat(46)],
    ["long unknown fields", list(1000, (i) => `${"中".repeat(330)}${i}: 1`).replace(/^.*$/s, "{$&}")],
    ["long tags", `customization: {extraKernelArgs: [${list(1000, () => `!${"t".repeat(500)} {}`)}]}`],
  ])("%s are reported up to 64 KiB, whatever their number", (_name, text) => {
    const message = said(text);
    expect(message.slice(0, 30)).toMatch(/^yaml: construct errors: line /);
    expect(Buffer.byteLength(message)).toBeLessThan(70_000);
  });

  it("a key is shown whole in an ordinary message and cut in a long one, which still names the line", () => {
    const twice = (key: string) => said(`{"${key}": 1, "${key}": 1}`);
    const words = (shown: string) =>
      `yaml: construct errors: line 1: mapping key "${shown}" already defined at line 1`;
    expect(twice("k".repeat(150))).toBe(words("k".repeat(150)));
    expect(twice("k".repeat(1000))).toBe(words(`${"k".repeat(99)}…`));
    expect(twice("\\xad".repeat(150))).toContain('…" already defined at line 1');
    expect(twice("😀".repeat(500))).toBe(words(`${"😀".repeat(49)}…`));
  });

  it("nesting up to the limit is fine", () => {
    const text = inOptions(`a: ${"[".repeat(97)}x${"]".repeat(97)}`);
    const canonical = canonicalSchematic(parseSchematic(text));
    expect(canonicalSchematic(parseSchematic(canonical))).toBe(canonical);
  });
});
