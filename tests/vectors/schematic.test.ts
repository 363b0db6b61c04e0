/** Frozen pairs of schematic text and ID, decode cases with their words, and how single strings are written. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import { schematicFromJson } from "../../lib/domain/schematic-from-json.ts";
import { idOfText, schematicId } from "../../lib/domain/schematic-id.ts";
import { decodeSchematic, parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { schematicToJson } from "../../lib/domain/schematic-to-json.ts";
import type { Schematic } from "../../lib/domain/schematic-types.ts";
import { AppError } from "../../lib/errors/app-error.ts";

const accepted = z.object({ input: z.string(), canonical: z.string(), id: z.string() });
const refused = z.object({ input: z.string(), error_text: z.string(), result: z.literal("error") });

const vectorsSchema = z.object({
  vectors: z.array(
    z.object({ name: z.string(), input: z.string(), canonical: z.string(), expected_id: z.string() }),
  ),
  parse_cases: z.array(
    z.union([
      accepted.extend({ name: z.string(), result: z.literal("ok") }),
      refused.extend({ name: z.string() }),
    ]),
  ),
  scalar_vectors: z.array(
    z.object({
      string: z.string(),
      kernel_arg: z.string(),
      kernel_arg_id: z.string(),
      kernel_arg_round_trip: z.string(),
      embedded_config: z.string().nullable(),
      embedded_config_id: z.string(),
      embedded_config_round_trip: z.string(),
      meta_value: z.string(),
      meta_value_id: z.string(),
      meta_value_round_trip: z.string(),
      option_key_and_value: z.string(),
      option_key_and_value_id: z.string(),
      option_round_trip: z.string(),
    }),
  ),
  integration_fixtures: z.array(accepted.extend({ name: z.string() })),
});

const fuzzSchema = z.object({
  entries: z.array(
    z.object({
      input: z.string(),
      status: z.union([z.literal(201), z.literal(400)]),
      id: z.string().optional(),
      canonical: z.string().optional(),
      postSchematic: z.string().optional(),
      getStatus: z.number().optional(),
      getBody: z.string().optional(),
      error: z.string().optional(),
    }),
  ),
});

const dialectSchema = z.object({
  entries: z.array(
    z.union([
      z.strictObject({ kind: z.string(), input: z.string(), canonical: z.string() }),
      z.strictObject({ kind: z.string(), input: z.string(), error: z.string() }),
    ]),
  ),
});

const readData = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`data/${name}`, import.meta.url), "utf8"));

const vectors = vectorsSchema.parse(readData("schematic-vectors.json"));
const fuzz = fuzzSchema.parse(readData("schematics-fuzz.json"));
const dialect = dialectSchema.parse(readData("yaml-dialect.json"));

const counts = new Map<string, number>();
const count = (group: string) => counts.set(group, (counts.get(group) ?? 0) + 1);

function expectAccepted(schematic: Schematic, canonical: string | undefined, id: string | undefined): void {
  const text = canonicalSchematic(schematic);
  if (canonical !== undefined) expect(text).toBe(canonical);
  expect(idOfText(text)).toBe(id);
  const stored: unknown = JSON.parse(JSON.stringify(schematicToJson(schematic)));
  expect(canonicalSchematic(schematicFromJson(stored))).toBe(text);
}

function failureOf(text: string): AppError {
  try {
    decodeSchematic(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("the text was accepted");
}

afterAll(() => console.table(Object.fromEntries(counts)));

describe("published pairs", () => {
  it.each(vectors.vectors)("$name", ({ input, canonical, expected_id }) => {
    expectAccepted(parseSchematic(input), canonical, expected_id);
    count("published pairs");
  });
});

describe("decode cases", () => {
  it.each(vectors.parse_cases)("$name", (vector) => {
    if (vector.result === "ok") {
      expectAccepted(decodeSchematic(vector.input), vector.canonical, vector.id);
      count("decode cases accepted");
      return;
    }
    const failure = failureOf(vector.input);
    expect(failure.code).toBe("invalid_input");
    // Where a case carries a position or a list of type errors, the words are compared too.
    expect(failure.message).toBe(vector.error_text);
    count("decode cases refused, words equal");
  });

  const owned = vectors.parse_cases.filter(
    (vector) => vector.result === "ok" && vector.canonical.startsWith("owner:"),
  );
  it.each(owned)("owner is refused without accounts: $name", ({ input }) => {
    expect(() => parseSchematic(input)).toThrow("owner field is only supported in Enterprise edition");
    count("owner refused");
  });
});

describe("integration fixtures", () => {
  it.each(vectors.integration_fixtures)("$name", ({ input, canonical, id }) => {
    expectAccepted(decodeSchematic(input), canonical, id);
    count("integration fixtures");
  });
});

type ScalarVector = (typeof vectors.scalar_vectors)[number];

interface Position {
  name: string;
  wrap: (text: string) => Schematic;
  prefix: string;
  suffix: string;
  text: (vector: ScalarVector) => string | null;
  id: (vector: ScalarVector) => string;
  roundTrip: (vector: ScalarVector) => string;
}

const positions: Position[] = [
  {
    name: "kernel argument",
    wrap: (text) => ({ customization: { extraKernelArgs: [text] } }),
    prefix: "customization:\n    extraKernelArgs:\n        - ",
    suffix: "\n",
    text: (vector) => vector.kernel_arg,
    id: (vector) => vector.kernel_arg_id,
    roundTrip: (vector) => vector.kernel_arg_round_trip,
  },
  {
    name: "embedded configuration",
    wrap: (text) => ({ customization: { embeddedMachineConfiguration: text } }),
    prefix: "customization:\n    embeddedMachineConfiguration: ",
    suffix: "\n",
    text: (vector) => vector.embedded_config,
    id: (vector) => vector.embedded_config_id,
    roundTrip: (vector) => vector.embedded_config_round_trip,
  },
  {
    name: "META value",
    wrap: (text) => ({ customization: { meta: [{ key: 10, value: text }] } }),
    prefix: "customization:\n    meta:\n        - key: 10\n          value: ",
    suffix: "\n",
    text: (vector) => vector.meta_value,
    id: (vector) => vector.meta_value_id,
    roundTrip: (vector) => vector.meta_value_round_trip,
  },
  {
    name: "option key and value",
    wrap: (text) => ({
      overlay: { image: "i", name: "o", options: new Map([[text, text]]) },
      customization: {},
    }),
    prefix: "overlay:\n    image: i\n    name: o\n    options:\n        ",
    suffix: "\ncustomization: {}\n",
    text: (vector) => vector.option_key_and_value,
    id: (vector) => vector.option_key_and_value_id,
    roundTrip: (vector) => vector.option_round_trip,
  },
];

describe.each(positions)("strings as $name", (position) => {
  it.each(vectors.scalar_vectors.map((vector) => ({ vector, shown: JSON.stringify(vector.string) })))(
    "$shown",
    ({ vector }) => {
      const text = canonicalSchematic(position.wrap(vector.string));
      const written = position.text(vector);
      if (written !== null) expect(text).toBe(position.prefix + written + position.suffix);
      expect(idOfText(text)).toBe(position.id(vector));
      count(`strings as ${position.name}`);

      const back = position.roundTrip(vector);
      if (back === "ok") expect(schematicId(decodeSchematic(text))).toBe(position.id(vector));
      else if (back === "does not parse") expect(failureOf(text).code).toBe("invalid_input");
      else expect(decodeSchematic(text)).not.toEqual(position.wrap(vector.string));
      count(`  read back: ${back}`);
    },
  );
});

describe("random texts", () => {
  it.each(fuzz.entries.map((entry, number) => ({ entry, number })))("text $number", ({ entry }) => {
    if (entry.status === 201) {
      const schematic = parseSchematic(entry.input);
      expectAccepted(schematic, entry.postSchematic ?? entry.canonical, entry.id);
      count("random texts accepted");
      return;
    }
    expect(() => parseSchematic(entry.input)).toThrow(AppError);
    expect(`${failureOf(entry.input).message}\n`).toBe(entry.error);
    count("random texts refused, words equal");
  });
});

describe("YAML dialect", () => {
  it.each(dialect.entries.map((entry, number) => ({ entry, number })))("text $number", ({ entry }) => {
    if ("canonical" in entry) {
      expectAccepted(decodeSchematic(entry.input), entry.canonical, idOfText(entry.canonical));
      count(`dialect, ${entry.kind}: accepted`);
      return;
    }
    expect(failureOf(entry.input).message).toBe(entry.error);
    count(`dialect, ${entry.kind}: refused, words equal`);
  });
});
