/** Layers made to exhaust a machine, at their full size and with the real limits: stopped early, in little memory. */
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunTool } from "../../lib/exec/run.ts";
import { extractLayers } from "../../lib/oci/layer-extract.ts";

const MIB = 1024 * 1024;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "hostile-layers-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A ustar header of an empty file, or of one that says it is larger. */
function header(name: string, sizeBytes = 0, type = "0"): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write("0000644\0", 100);
  head.write("0000000\0", 108);
  head.write("0000000\0", 116);
  head.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, 124);
  head.write("00000000000\0", 136);
  head.write("        ", 148);
  head.write(type, 156);
  head.write("ustar\x0000", 257, "latin1");
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return head;
}

/** Most memory this process held more than at the start while `work` ran, MB. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const start = process.memoryUsage().rss;
  let most = start;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 50);
  await work().finally(() => clearInterval(timer));
  return (most - start) / MIB;
}

const unpack = (layer: string) =>
  extractLayers("an/extension@sha256:1", [layer], join(dir, "tree"), createRunTool());

describe("an extension with", () => {
  it("a million files is refused by its number of files", async () => {
    const layer = join(dir, "million.tar.gz");
    const member = (from: number) =>
      gzipSync(
        Buffer.concat(
          Array.from({ length: 1000 }, (_, index) => header(`usr/d${from % 7}/f${from + index}`)),
        ),
        {
          level: 1,
        },
      );
    const own = Array.from({ length: 110 }, (_, index) => member(index * 1000));
    // Names from there on repeat; nobody gets that far.
    const rest = Array.from({ length: 890 }, () => own[109] ?? Buffer.alloc(0));
    await pipeline(Readable.from([...own, ...rest, gzipSync(Buffer.alloc(1024))]), createWriteStream(layer));
    const grown = await growth(() =>
      expect(unpack(layer)).rejects.toMatchObject({
        code: "too_large",
        message: "an/extension@sha256:1 has more than 100000 layer entries",
        extra: { retryable: false },
      }),
    );
    expect(grown).toBeLessThan(300);
  }, 180_000);

  it("a file that says it is a terabyte is refused before a byte of it is written", async () => {
    const layer = join(dir, "terabyte.tar");
    const head = Buffer.from(header("usr/huge"));
    // Base 256 (GNU tar): sizes beyond eleven octal digits.
    head.fill(0, 124, 136);
    head[124] = 0x80;
    head.writeBigUInt64BE(2n ** 40n, 128);
    head.write("        ", 148);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    await pipeline(Readable.from([head, Buffer.alloc(MIB)]), createWriteStream(layer));
    await expect(unpack(layer)).rejects.toMatchObject({ code: "too_large" });
    expect(await readdir(join(dir, "tree")).catch(() => [])).toEqual([]);
  });

  it("gigabytes of zeros in a small archive meets its limit, in little memory", async () => {
    const layer = join(dir, "bomb.tar.gz");
    const gigabytes = 2;
    const zeros = function* () {
      yield header("usr/bomb", gigabytes * 1024 * MIB);
      for (let at = 0; at < gigabytes * 1024; at += 1) yield Buffer.alloc(MIB);
    };
    await pipeline(
      Readable.from(zeros()),
      createGzip({ level: constants.Z_BEST_SPEED }),
      createWriteStream(layer),
    );
    expect((await stat(layer)).size).toBeLessThan(12 * MIB);
    const grown = await growth(() =>
      expect(
        extractLayers("an/extension@sha256:1", [layer], join(dir, "tree"), createRunTool(), {
          maxBytes: 200 * MIB,
        }),
      ).rejects.toMatchObject({ code: "too_large" }),
    );
    expect(grown).toBeLessThan(300);
  }, 60_000);

  it("a sparse file of the old GNU kind is refused by name", async () => {
    const layer = join(dir, "sparse.tar");
    await mkdir(join(dir, "tree"));
    await pipeline(
      Readable.from([header("usr/sparse", 0, "S"), Buffer.alloc(1024)]),
      createWriteStream(layer),
    );
    await expect(unpack(layer)).rejects.toMatchObject({
      code: "source_invalid",
      message: expect.stringContaining("usr/sparse"),
    });
  });
});
