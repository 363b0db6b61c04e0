/** Properties of schematics: IDs do not depend on how a text is written, and nothing is lost on the way. */
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalSchematic } from "../../../lib/domain/schematic-canonical.ts";
import { schematicFromJson } from "../../../lib/domain/schematic-from-json.ts";
import { schematicId } from "../../../lib/domain/schematic-id.ts";
import { decodeSchematic, decodeSchematicText, parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import { schematicToJson } from "../../../lib/domain/schematic-to-json.ts";
import type { OptionValue, Schematic } from "../../../lib/domain/schematic-types.ts";

/** What a literal block cannot give back: docs/schematics.md, "Texts that do not survive". */
const survives = (text: string): boolean => !text.includes("\n") || !/^(?:[ \t]|\n+[ \t])/.test(text);

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."ab 1:-#\n\t'\"{[,&*!|>%@`.~=?\u00e9\u{1f600}"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});
const safeText = anyText.filter((text) => survives(text) && !/[\u2028\u2029]/.test(text));

const optionKey = fc.oneof(
  safeText,
  fc.boolean(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.constant(null),
);

const { option } = fc.letrec<{ option: OptionValue }>((tie) => ({
  option: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    safeText,
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.double().filter((value) => !Number.isInteger(value) || Object.is(value, -0)),
    fc.constantFrom({ timestamp: "2024-01-02T00:00:00Z" }, { timestamp: "2024-02-29T03:04:05.5+01:30" }),
    fc.array(tie("option"), { maxLength: 4 }),
    fc.array(fc.tuple(optionKey, tie("option")), { maxLength: 4 }).map((entries) => new Map(entries)),
  ),
}));

const filled = (text: fc.Arbitrary<string>) => text.filter((value) => value !== "");

const schematics: fc.Arbitrary<Schematic> = fc
  .record(
    {
      overlay: fc.record({
        image: safeText,
        name: filled(safeText),
        options: fc
          .array(fc.tuple(safeText, option), { minLength: 1, maxLength: 5 })
          .map((entries) => new Map(entries)),
      }),
      embeddedMachineConfiguration: filled(safeText),
      extraKernelArgs: fc.array(safeText, { minLength: 1, maxLength: 5 }),
      meta: fc.array(fc.record({ key: fc.nat(255), value: safeText }), { minLength: 1, maxLength: 3 }),
      bootloader: fc.constantFrom("dual-boot" as const, "sd-boot" as const, "grub" as const),
      secureboot: fc.record({
        enrollKeys: filled(safeText),
        includeWellKnownCertificates: fc.constant(true),
      }),
      diskImage: fc.record({ sectorSize: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }) }),
    },
    { requiredKeys: [] },
  )
  .map(({ overlay, ...customization }) => (overlay ? { overlay, customization } : { customization }));

const shuffled = (value: OptionValue, order: (a: number) => number): OptionValue => {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, order));
  if (!(value instanceof Map)) return value;
  const entries = [...value].map(([key, item], index) => ({
    rank: order(index),
    entry: [key, shuffled(item, order)] as const,
  }));
  return new Map(entries.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
};

describe("schematics", () => {
  it("give the same ID when their canonical text is read again", () => {
    fc.assert(
      fc.property(schematics, (schematic) => {
        const canonical = canonicalSchematic(schematic);
        expect(canonicalSchematic(parseSchematic(canonical))).toBe(canonical);
      }),
      { numRuns: 500 },
    );
  });

  it("read back as the same value, not only as the same ID", () => {
    fc.assert(
      fc.property(schematics, (schematic) => {
        expect(parseSchematic(canonicalSchematic(schematic))).toEqual(schematic);
      }),
      { numRuns: 300 },
    );
  });

  it("do not depend on the order in which keys were written", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyText, option), { maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (entries, ranks) => {
          const options = new Map<string, OptionValue>(entries);
          const mixed = new Map(
            [...options]
              .map((entry) => ({ entry, rank: ranks.next().value ?? 0 }))
              .sort((a, b) => a.rank - b.rank)
              .map(
                ({ entry: [key, value] }) => [key, shuffled(value, () => ranks.next().value ?? 0)] as const,
              ),
          );
          const of = (map: Map<string, OptionValue>) =>
            canonicalSchematic({ overlay: { image: "i", name: "o", options: map }, customization: {} });
          expect(of(mixed)).toBe(of(options));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("do not depend on the order of the fixed fields or on JSON or YAML notation", () => {
    const json =
      '{"customization":{"meta":[{"value":"v","key":10}],"extraKernelArgs":["a"]},"overlay":{"name":"n1","image":"i"}}';
    const yaml =
      "overlay: {image: i, name: n1}\ncustomization:\n  extraKernelArgs:\n  - a\n  meta:\n  - key: 0xa\n    value: v\n";
    expect(schematicId(parseSchematic(json))).toBe(schematicId(parseSchematic(yaml)));
  });

  it("survive the way through JSON with every text and number", () => {
    const texts = fc.string({ unit: "binary", maxLength: 6 });
    const withNul = texts.map((text) => `${text}\0`);
    fc.assert(
      fc.property(schematics, withNul, (schematic, text) => {
        const extended: Schematic = {
          ...schematic,
          customization: { ...schematic.customization, embeddedMachineConfiguration: text },
        };
        const stored = JSON.stringify(schematicToJson(extended));
        expect(stored).not.toMatch(/(?<!\\)(?:\\\\)*\\u0000/);
        const back: unknown = JSON.parse(stored);
        expect(schematicFromJson(back)).toEqual(extended);
        expect(canonicalSchematic(schematicFromJson(back))).toBe(canonicalSchematic(extended));
      }),
      { numRuns: 300 },
    );
  });

  it("refuse a stored form they did not write", () => {
    for (const json of [
      null,
      [],
      {},
      { customization: { meta: [{ key: 256, value: "" }] } },
      { customization: { embeddedMachineConfiguration: { escaped: "{" } } },
    ]) {
      expect(() => schematicFromJson(json)).toThrow("a stored schematic does not have the form");
    }
  });

  it("keep prototype names as plain option keys", () => {
    const text = '{"overlay":{"name":"o","image":"i","options":{"__proto__":{"x":1},"constructor":1}}}';
    const schematic = parseSchematic(text);
    expect([...(schematic.overlay?.options?.keys() ?? [])]).toEqual(["__proto__", "constructor"]);
    expect(schematicFromJson(JSON.parse(JSON.stringify(schematicToJson(schematic))))).toEqual(schematic);
    expect(() => parseSchematic('{"__proto__": {}}')).toThrow(
      "field __proto__ not found in type schematic.Schematic",
    );
  });
});

describe("schematics in the browser", () => {
  it("parse and hash without Node, Buffer or Web Crypto", async () => {
    const source = `
      import { parseSchematic } from "./lib/domain/schematic-parse.ts";
      import { schematicId } from "./lib/domain/schematic-id.ts";
      globalThis.answer = schematicId(parseSchematic("customization: {}"));`;
    const bundle = await build({
      stdin: { contents: source, resolveDir: process.cwd(), loader: "ts" },
      bundle: true,
      write: false,
      platform: "browser",
      format: "iife",
      logLevel: "silent",
    });
    const page: Record<string, unknown> = { TextEncoder, TextDecoder };
    page.globalThis = page;
    runInNewContext(bundle.outputFiles[0]?.text ?? "", page);
    expect(page.answer).toBe("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba");
  });
});

describe("request bodies", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);

  it("are read as UTF-8, or as UTF-16 when a byte order mark says so", () => {
    expect(decodeSchematicText(new TextEncoder().encode("a: é"))).toBe("a: é");
    expect(decodeSchematicText(bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0))).toBe("{}");
    expect(decodeSchematicText(bytes(0xfe, 0xff, 0, 0x7b, 0, 0x7d))).toBe("{}");
  });

  it("are refused when they are no text or too large", () => {
    for (const body of [bytes(0xc0, 0xaf), bytes(0xed, 0xa0, 0x80), bytes(0x1f, 0x8b, 0x08)]) {
      expect(() => decodeSchematicText(body)).toThrow(
        /^go-yaml load error in reader at <unknown position>: /,
      );
    }
    expect(() => decodeSchematicText(new Uint8Array(1024 * 1024 + 1))).toThrow("larger than 1 MiB");
  });

  it("may be as large as 1 MiB", () => {
    const head = "customization: {embeddedMachineConfiguration: '";
    const text = `${head}${"x".repeat(1024 * 1024 - head.length - 2)}'}`;
    expect(decodeSchematic(text).customization.embeddedMachineConfiguration).toHaveLength(
      1024 * 1024 - head.length - 2,
    );
    expect(() => decodeSchematic(`${text} `)).toThrow("larger than 1 MiB");
    expect(() => decodeSchematic("é".repeat(600_000))).toThrow("larger than 1 MiB");
  });
});
