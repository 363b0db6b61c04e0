/** Converted disks against what is recorded of the public imager's: qcow2 header, VHD footer. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { createRunTool } from "../../lib/exec/run.ts";
import { fixedVhdFooter } from "../../lib/formats/vhd.ts";
import { qcow2 } from "../../lib/imager/steps/qcow2.ts";

const known = z
  .object({
    convert: z.object({
      "v1.13.0 nocloud amd64 qcow2": z.object({ info: z.looseObject({ "virtual-size": z.number() }) }),
      "v1.13.0 azure amd64 vhd": z.object({
        fileBytes: z.number(),
        dataBytes: z.number(),
        footer: z.record(z.string(), z.unknown()),
      }),
    }),
  })
  .parse(JSON.parse(readFileSync("tests/vectors/data/layout.json", "utf8"))).convert;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "imager-convert-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it("qcow2 has the recorded size, clusters and features", async () => {
  const { info } = known["v1.13.0 nocloud amd64 qcow2"];
  const disk = join(dir, "disk.raw");
  const file = await open(disk, "w");
  await file.truncate(info["virtual-size"]);
  await file.write(Buffer.from("data"), 0, 4, 5_000_000);
  await file.close();
  const options = { dir, run: createRunTool(), signal: new AbortController().signal };
  const { path } = await qcow2({ options: "" }, [{ path: disk, shape: "file" }], {
    ...options,
    log: () => {},
    progress: () => {},
  });
  const text = execFileSync("qemu-img", ["info", "--output=json", path], { encoding: "utf8" });
  expect(JSON.parse(text)).toMatchObject(info);
});

it("VHD footers have the recorded fields, but for fixed time and identity", () => {
  const { footer, dataBytes, fileBytes } = known["v1.13.0 azure amd64 vhd"];
  const bytes = Buffer.from(fixedVhdFooter(dataBytes, 1_559_424_892));
  expect(dataBytes + bytes.length).toBe(fileBytes);
  const hex = (value: number | bigint) => `0x${value.toString(16)}`;
  expect({
    cookie: bytes.toString("latin1", 0, 8),
    features: bytes.readUInt32BE(8),
    fileFormat: hex(bytes.readUInt32BE(12)),
    dataOffset: hex(bytes.readBigUInt64BE(16)),
    creatorApplication: bytes.toString("latin1", 28, 32),
    creatorVersion: hex(bytes.readUInt32BE(32)),
    creatorHostOs: bytes.toString("latin1", 36, 40),
    originalSize: Number(bytes.readBigUInt64BE(40)),
    currentSize: Number(bytes.readBigUInt64BE(48)),
    geometry: [bytes.readUInt16BE(56), bytes.readUInt8(58), bytes.readUInt8(59)],
    diskType: bytes.readUInt32BE(60),
    savedState: bytes.readUInt8(84),
  }).toEqual(
    Object.fromEntries(Object.entries(footer).filter(([key]) => !["timestamp", "uniqueId"].includes(key))),
  );
});
