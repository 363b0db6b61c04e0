/** Packing of odd files: every format must give back exactly what went in, with and without known parts. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRunTool } from "../../lib/exec/run.ts";
import { packFile } from "../../lib/imager/pack/pack-file.ts";
import { findSegments } from "../../lib/imager/pack/segments.ts";
import type { StepContext } from "../../lib/imager/types.ts";
import { noise } from "../fixtures/imager-disk-fixture.ts";

const MIB = 1024 * 1024;
const UNPACK = { ".xz": "xz -dc", ".zst": "zstd -dcq", ".gz": "gzip -dc" } as const;
type Format = keyof typeof UNPACK;
const FORMATS: Format[] = [".xz", ".zst", ".gz"];

let dir: string;
let counter = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "imager-pack-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function context(signal = new AbortController().signal): Promise<StepContext> {
  const scratch = join(dir, String(counter++));
  await mkdir(scratch);
  return { dir: scratch, run: createRunTool(), signal, log: () => {}, progress: () => {} };
}

/** A sparse file of that size with bytes at places. */
async function sparse(size: number, writes: [offset: number, bytes: Buffer][]): Promise<string> {
  const path = join(dir, `image-${counter++}`);
  const file = await open(path, "w");
  await file.truncate(size);
  for (const [offset, bytes] of writes) await file.write(bytes, 0, bytes.length, offset);
  await file.close();
  return path;
}

async function pack(path: string, format: Format, sources: string[] = []): Promise<string> {
  const known = [];
  for (const source of sources) {
    const packed = join(dir, `part-${counter++}`);
    await packFile({ path: source, format, name: null, known: [], output: packed }, await context());
    known.push({ source, packed });
  }
  const output = join(dir, `packed-${counter++}`);
  await packFile({ path, format, name: "disk.raw", known, output }, await context());
  return output;
}

const expectSame = (packed: string, format: Format, original: string): void => {
  const script = `${UNPACK[format]} < ${packed} | cmp - ${original}`;
  execFileSync("bash", ["-o", "pipefail", "-c", script], { stdio: "pipe" });
};

const text = (length: number): Buffer =>
  Buffer.alloc(length, "the quick brown fox jumps over the lazy dog\n");

describe("packed files", () => {
  it.each<[string, number, [number, Buffer][]]>([
    ["one byte", 1, [[0, Buffer.from("x")]]],
    ["nothing but zeros", 3 * MIB + 5, []],
    ["zeros longer than the largest repeated block", 40 * MIB + 4096, []],
    ["data from the first to the last byte", 3 * MIB + 77, [[0, noise(3 * MIB + 77, 3)]]],
    [
      "text and noise in turn",
      6 * MIB,
      [
        [0, text(MIB + 1)],
        [2 * MIB, noise(MIB, 5)],
        [5 * MIB, text(MIB)],
      ],
    ],
    ["data only at the very end", 5 * MIB, [[5 * MIB - 1, Buffer.from("x")]]],
    [
      "data that crosses blocks",
      4 * MIB,
      [
        [4095, text(4098)],
        [2 * MIB - 1, noise(2, 9)],
      ],
    ],
  ])("give back %s", async (_name, size, writes) => {
    const image = await sparse(size, writes);
    for (const format of FORMATS) expectSame(await pack(image, format), format, image);
  });

  it("give back known files wherever they lie, also twice, also with a length that is no multiple of anything", async () => {
    const first = join(dir, "first");
    const second = join(dir, "second");
    await writeFile(first, Buffer.concat([text(700_001), noise(1_300_003, 11)]));
    await writeFile(second, noise(900_013, 13));
    const [a, b] = [Buffer.concat([text(700_001), noise(1_300_003, 11)]), noise(900_013, 13)];
    const image = await sparse(16 * MIB, [
      [MIB + 512, a],
      [4 * MIB, Buffer.concat([noise(512, 15), b])],
      [7 * MIB, Buffer.concat([b, text(3000)])],
      [16 * MIB - 900_013 - ((16 * MIB - 900_013) % 512), b],
    ]);
    const segments = await findSegments(image, [first, second], await context());
    expect(segments.flatMap((segment) => (segment.kind === "known" ? [segment.index] : []))).toEqual([
      0, 1, 1, 1,
    ]);
    for (const format of FORMATS) expectSame(await pack(image, format, [first, second]), format, image);
  });

  it("do not take a file for a known one that only begins like it", async () => {
    const source = join(dir, "source");
    const bytes = noise(2 * MIB, 17);
    await writeFile(source, bytes);
    const changed = Buffer.from(bytes);
    changed[2 * MIB - 1] = (changed[2 * MIB - 1] ?? 0) ^ 1;
    const image = await sparse(8 * MIB, [
      [MIB, changed],
      [7 * MIB, bytes.subarray(0, MIB)],
    ]);
    const segments = await findSegments(image, [source], await context());
    expect(segments.every(({ kind }) => kind !== "known")).toBe(true);
    for (const format of FORMATS) expectSame(await pack(image, format, [source]), format, image);
  });

  it("stop when the build is cancelled", async () => {
    const image = await sparse(4 * MIB, [[0, noise(4 * MIB, 19)]]);
    const stop = new AbortController();
    const ctx = await context(stop.signal);
    stop.abort();
    const request = {
      path: image,
      format: ".xz" as const,
      name: "x",
      known: [],
      output: join(ctx.dir, "out"),
    };
    await expect(packFile(request, ctx)).rejects.toThrow();
  });
});
