import { randomBytes } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FileReader } from "../../../lib/storage/file-reader.ts";

const BYTES = randomBytes(1_000_003);
let dir = "";

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "file-reader-"));
  await writeFile(join(dir, "file"), BYTES);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const reader = async (start: number, end: number) =>
  new FileReader(await open(join(dir, "file"), "r"), start, end, "file");

/** Keeps what it gets, later than it could, so that a buffer used too early shows. */
function slowSink(): { sink: Writable; received: () => Buffer } {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      setTimeout(() => {
        chunks.push(Buffer.from(chunk));
        done();
      }, 5);
    },
  });
  return { sink, received: () => Buffer.concat(chunks) };
}

describe("copyTo", () => {
  it.each([
    [0, BYTES.length - 1],
    [17, 17],
    [262_144, 786_431],
  ])("sends bytes %i to %i and leaves the sink open", async (start, end) => {
    const { sink, received } = slowSink();
    await (await reader(start, end)).copyTo(sink);
    expect(received().equals(BYTES.subarray(start, end + 1))).toBe(true);
    expect(sink.writable).toBe(true);
  });

  it("rejects when the file is shorter than promised", async () => {
    const { sink } = slowSink();
    await expect((await reader(0, BYTES.length + 9)).copyTo(sink)).rejects.toThrow("shorter than expected");
  });

  it("rejects when the sink is torn down without calling back, and closes the file", async () => {
    const sink = new Writable({ write: () => undefined });
    const source = await reader(0, BYTES.length - 1);
    const copied = source.copyTo(sink);
    setTimeout(() => sink.destroy(), 20);
    await expect(copied).rejects.toThrow();
    expect(source.destroyed).toBe(true);
  });

  it("stops when the reader is destroyed", async () => {
    const { sink } = slowSink();
    const source = await reader(0, BYTES.length - 1);
    const copied = source.copyTo(sink);
    source.destroy(new Error("the client went away"));
    await expect(copied).rejects.toThrow();
  });
});
