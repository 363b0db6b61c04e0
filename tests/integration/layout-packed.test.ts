/**
 * Every recorded compressed and converted image: container headers and checks, archive members, names and sizes. OVA,
 * qcow2 and VHD have tests of their own (imager-ova, imager-convert); this one knows which entries there are.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { imagerFileName } from "../../lib/domain/asset-path.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { type PackFormat, packFile } from "../../lib/imager/pack/pack-file.ts";
import { recipeFor } from "../fixtures/recipes.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

const layout = z
  .object({
    compressed: z.object({
      "metal-amd64.raw.xz": z.object({ head: z.string(), info: z.array(z.string()) }),
      "metal-amd64.raw.zst": z.object({ head: z.string(), info: z.array(z.string()) }),
      "akamai-amd64.raw.gz": z.object({ head: z.string() }),
      "gcp-amd64.raw.tar.gz": z.object({
        head: z.string(),
        tar: z.array(z.record(z.string(), z.unknown())),
        tarHeader: z.object({ magic: z.string(), typeflag: z.string() }),
      }),
      "vmware-amd64.ova": z.unknown(),
    }),
    convert: z.record(z.string(), z.object({ name: z.string().optional(), error: z.string().optional() })),
  })
  .parse(vectorFile("layout.json"));
const { compressed, convert } = layout;

const DISK_BYTES = 4_453_302_272;
const GCP_BYTES = 11_736_711_168;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "layout-packed-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function packed(name: string, format: PackFormat, sizeBytes: number): Promise<string> {
  const path = join(dir, "disk.raw");
  const disk = await open(path, "w");
  await disk.truncate(sizeBytes);
  for (const offset of [0, 5_000_000, sizeBytes - 4096])
    await disk.write(Buffer.alloc(4096, "data"), 0, 4096, offset);
  await disk.close();
  const output = join(dir, name);
  const signal = new AbortController().signal;
  const context = { dir, run: createRunTool(), signal, log: () => {}, progress: () => {} };
  await packFile({ path, format, name: name.slice(0, -format.length), known: [], output }, context);
  return output;
}

const headOf = async (file: string, bytes: number): Promise<string> => {
  const handle = await open(file, "r");
  const head = Buffer.alloc(bytes);
  await handle.read(head, 0, bytes, 0);
  await handle.close();
  return head.toString("hex");
};
const lines = (name: string, ...args: string[]): string[] =>
  execFileSync(name, args, { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim());
const line = (all: string[], start: string): string | undefined =>
  all.find((one) => one.trim().startsWith(start))?.trim();

describe("compressed images", () => {
  it(".xz: one stream of the recorded size unpacked, checked by CRC32 in place of CRC64 (docs/compat.md, D7)", async () => {
    const known = compressed["metal-amd64.raw.xz"];
    const file = await packed("metal-amd64.raw.xz", ".xz", DISK_BYTES);
    // Magic, then the flags (XZ file format 1.2.0, 2.1.1.2): zero, kind of check.
    const head = await headOf(file, 8);
    expect([head, known.head.slice(0, 16)]).toEqual(["fd377a585a000001", "fd377a585a000004"]);
    const seen = lines("xz", "-lv", file);
    for (const start of ["Streams:  ", "Stream Padding:", "Uncompressed size:"]) {
      expect(line(seen, start), start).toBe(line(known.info, start));
    }
  });

  it(".zst: frames of the recorded kind, with a checksum each", async () => {
    const known = compressed["metal-amd64.raw.zst"];
    const file = await packed("metal-amd64.raw.zst", ".zst", DISK_BYTES);
    expect(await headOf(file, 4)).toBe(known.head.slice(0, 8));
    const seen = lines("zstd", "-lv", file);
    for (const start of ["DictID:", "Decompressed Size:"])
      expect(line(seen, start), start).toBe(line(known.info, start));
    expect(line(seen, "Check:")?.slice(0, 12)).toBe(line(known.info, "Check:")?.slice(0, 12));
  });

  it(".gz: the recorded header with the name of the file and no time", async () => {
    const known = compressed["akamai-amd64.raw.gz"];
    const file = await packed("akamai-amd64.raw.gz", ".gz", DISK_BYTES);
    expect(await headOf(file, known.head.length / 2)).toBe(known.head);
  });

  it(".tar.gz: the recorded header, with one sparse member of the recorded size", async () => {
    const known = compressed["gcp-amd64.raw.tar.gz"];
    const file = await packed("gcp-amd64.raw.tar.gz", ".tar.gz", GCP_BYTES);
    expect(await headOf(file, 10)).toBe(known.head.slice(0, 20));
    const tar = gunzipSync(await readFile(file));
    const octal = (at: number, length: number) => Number.parseInt(tar.toString("latin1", at, at + length), 8);
    const text = (at: number) => tar.toString("latin1", at, tar.indexOf(0, at));
    // The real size is a base-256 number at offset 483 (GNU tar, "sparse_header").
    expect([
      {
        name: text(0),
        type: text(156).startsWith("S") ? "gnu sparse" : "file",
        mode: `0o${octal(100, 7).toString(8)}`,
        uid: octal(108, 7),
        gid: octal(116, 7),
        uname: text(265),
        gname: text(297),
        mtime: octal(136, 11),
        size: Number(tar.readBigUInt64BE(487)),
      },
    ]).toEqual(known.tar);
    expect({ magic: tar.toString("hex", 257, 265), typeflag: text(156).charAt(0) }).toMatchObject(
      known.tarHeader,
    );
  });
});

describe("converted images", () => {
  it("are three recorded entries, two of them files under their names", () => {
    const [qcow2, plain, vhd] = Object.values(convert);
    expect(Object.keys(convert)).toHaveLength(3);
    const nameOf = (path: string) => imagerFileName(recipeFor(path, "v1.13.0").profile);
    expect(nameOf("nocloud-amd64.qcow2")).toBe(qcow2?.name);
    expect(nameOf("azure-amd64.vhd")).toBe(vhd?.name);
    expect(plain?.error).toContain("Invalid option list");
  });

  it("openstack-amd64.qcow2 is no error here (docs/compat.md, D6)", () => {
    expect(recipeFor("openstack-amd64.qcow2", "v1.13.0").profile.disk?.formatOptions).toBe("cluster_size=8k");
  });
});
