/** A fresh XFS with random generations and the times of the run becomes the same bytes each time. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { xfsPatches } from "../../../lib/formats/xfs-normalize.ts";

const GENERATION = 92;
const INODE_BYTES = 512;
const dir = mkdtempSync(join(tmpdir(), "casthouse-xfs-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function settle(image: Buffer): Promise<Buffer> {
  const read = async (offset: number, length: number) => image.subarray(offset, offset + length);
  const patches = await xfsPatches(read, 1_700_000_000);
  const settled = Buffer.from(image);
  for (const { offset, bytes } of patches) settled.set(bytes, offset);
  return settled;
}

/** As later programs write it: another generation and another time in every inode. */
async function scattered(image: Buffer): Promise<Buffer> {
  const read = async (offset: number, length: number) => image.subarray(offset, offset + length);
  const inodes = await xfsPatches(read, 0);
  expect(inodes.length).toBeGreaterThanOrEqual(64);
  const other = Buffer.from(image);
  for (const [index, { offset }] of inodes.entries()) {
    other.writeUInt32BE(0x1234_5678 + index, offset + GENERATION);
    other.writeUInt32BE(index, offset + 40);
  }
  return other;
}

test("generations and times do not show, and xfs_repair finds nothing wrong", async () => {
  const file = join(dir, "xfs.img");
  writeFileSync(file, "");
  truncateSync(file, 300 * 2 ** 20);
  execFileSync("mkfs.xfs", ["-q", "-m", "uuid=11111111-1111-1111-1111-111111111111", file]);
  const image = readFileSync(file);
  const settled = await settle(image);
  expect((await settle(await scattered(image))).equals(settled)).toBe(true);
  const inodes = settled.indexOf("IN", 0, "latin1");
  expect(settled.readUInt32BE(inodes + GENERATION)).toBe(0);
  expect(settled.subarray(inodes + INODE_BYTES, inodes + INODE_BYTES + 2).toString("latin1")).toBe("IN");
  writeFileSync(file, settled);
  execFileSync("xfs_repair", ["-n", file], { stdio: "pipe" });
});
