/** Archives that are meant to use up memory, disk or time: how much of them is read and written, and what a process that unpacks them really uses. */
import { execFile, execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endOfTar, rawMember } from "../fixtures/raw-tar.ts";
import { removeScratch, scratchFolder } from "../fixtures/source-images.ts";

const MIB = 1 << 20;
const CHILD = "tests/fixtures/unpack-child.ts";
/** More than a process that unpacks a small archive uses: what the archive itself costs. */
const MOST_MORE = 160 * MIB;
/** zstd is stopped by a watcher, so it may pass the limit for a moment; the whole archive would be 64 times as much. */
const MOST_TIMES = 4;
const run = promisify(execFile);

interface End {
  end: string;
  message: string;
  peakBytes: number;
  readBytes: number;
  wroteBytes: number;
}

let dir: string;
let plain: End;

async function unpack(name: string, maxBytes: number, maxEntries: number): Promise<End> {
  const tree = join(dir, `${name}-tree`);
  const args = ["--import", "tsx", CHILD, join(dir, name), tree, String(maxBytes), String(maxEntries)];
  const { stdout } = await run(process.execPath, args);
  const end: End = JSON.parse(stdout);
  const [peak, read, wrote] = [end.peakBytes, end.readBytes, end.wroteBytes].map((n) => Math.round(n / MIB));
  console.log(`${name}: ${end.end}, peak ${peak} MiB, read ${read} MiB, wrote ${wrote} MiB`);
  return end;
}

beforeAll(async () => {
  dir = await scratchFolder();
  await writeFile(join(dir, "small"), Buffer.concat([rawMember({ name: "a", content: "x" }), endOfTar]));
  plain = await unpack("small", MIB, 10);
  expect(plain.end).toBe("unpacked");
});
afterAll(removeScratch);

/** Files of 64 MiB of zeros, compressed once and repeated: hundreds of gigabytes would be as small. */
async function bomb(name: string, compress: (bytes: Buffer) => Buffer, count: number): Promise<void> {
  const zeros = compress(Buffer.alloc(64 * MIB));
  const parts = Array.from({ length: count }, (_, index) => {
    const head = rawMember({ name: `zeros-${index}`, size: 64 * MIB });
    return [compress(head), zeros];
  });
  await writeFile(join(dir, name), Buffer.concat(parts.flat()));
}

/** `most`: what the archive may unpack to. Reading goes on no further than that takes, so time is bound, too. */
function expectSmall({ peakBytes, readBytes, wroteBytes }: End, most: number): void {
  expect(peakBytes - plain.peakBytes).toBeLessThan(MOST_MORE);
  expect(readBytes - plain.readBytes).toBeLessThan(MOST_TIMES * most);
  expect(wroteBytes - plain.wroteBytes).toBeLessThan(MOST_TIMES * most);
}

describe("an archive that is a bomb", () => {
  it("of gzip, 16 GiB in 16 MiB, ends at the limit", async () => {
    await bomb("gzip", (bytes) => gzipSync(bytes, { level: 1 }), 256);
    const end = await unpack("gzip", 256 * MIB, 1_000);
    expect(end.end).toBe("too_large");
    expect(end.message).toContain("unpacks to more than 268435456 bytes");
    expectSmall(end, 256 * MIB);
  });

  it("of zstd ends at the limit, and leaves nothing beside the tree", async () => {
    await bomb("zstd", (input) => execFileSync("zstd", ["-q", "-c"], { input, maxBuffer: 1 << 28 }), 256);
    const end = await unpack("zstd", 256 * MIB, 1_000);
    expect(end.end).toBe("too_large");
    expectSmall(end, 256 * MIB);
    expect((await readdir(dir)).filter((name) => name.endsWith(".tar"))).toEqual([]);
  });

  it("of a million files ends at the limit of entries", async () => {
    await pipeline(manyHeaders(1_000_000), createGzip({ level: 1 }), createWriteStream(join(dir, "many")));
    const end = await unpack("many", 1024 * MIB, 10_000);
    expect(end.end).toBe("too_large");
    expect(end.message).toContain("more than 10000 files");
    expectSmall(end, 256 * MIB);
  });

  it("of pax headers that never come to an entry is not collected", async () => {
    const header = rawMember({
      name: "x",
      type: "x",
      content: `${"30 comment=aaaaaaaaaaaaaaaaaa\n".repeat(2_000)}`,
    });
    await writeFile(join(dir, "headers"), gzipSync(Buffer.concat(Array.from({ length: 500 }, () => header))));
    const end = await unpack("headers", 256 * MIB, 1_000);
    expect(end.end).toBe("invalid_input");
    expectSmall(end, 256 * MIB);
  });
});

/** Headers of empty files, a thousand at a time. */
function* manyHeaders(count: number): Generator<Buffer> {
  const head = rawMember({ name: "n0000000" });
  const base = head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0) - 7 * 0x30;
  for (let first = 0; first < count; first += 1_000) {
    const block = Buffer.alloc(512 * 1_000);
    for (let index = 0; index < 1_000; index++) {
      const digits = String(first + index).padStart(7, "0");
      head.write(digits, 1, "latin1");
      const sum = [...digits].reduce((total, digit) => total + digit.charCodeAt(0), base);
      head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
      head.copy(block, index * 512);
    }
    yield block;
  }
}
