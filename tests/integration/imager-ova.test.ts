/** OVA packages made with the real tools: members, checksums, description, disk, compressions. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { OutFormat } from "../../lib/domain/asset.ts";
import { ova } from "../../lib/imager/steps/ova.ts";
import type { Product, StepFunction } from "../../lib/imager/types.ts";
import {
  type DiskWorkshop,
  diskPlan,
  diskRecipe,
  diskWorkshop,
  smallInputs,
} from "../fixtures/imager-disk-fixture.ts";

const tool = (name: string, ...args: string[]): string =>
  execFileSync(name, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const shell = (script: string): string =>
  execFileSync("bash", ["-o", "pipefail", "-c", script], { encoding: "utf8" });
const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

const first: StepFunction = async (_params, needs) => needs[0] ?? { path: "/dev/null", shape: "file" };
const nothing: StepFunction = async () => ({ path: "/dev/null", shape: "file" });
const STEPS = { ova, uki: first, initramfs: first, "module-index": nothing, "schematic-extension": nothing };

const DISK_BYTES = 11_736_711_168;
function recipe(outFormat: OutFormat = "raw") {
  const base = diskRecipe({ diskSizeBytes: DISK_BYTES });
  const disk = { format: "ova" as const, sizeBytes: 8 * 2 ** 30, formatOptions: "" };
  return { ...base, profile: { ...base.profile, platform: "vmware", outFormat, disk } };
}

const known = z
  .object({
    compressed: z.object({
      "vmware-amd64.ova": z.object({
        tar: z.array(z.object({ name: z.string(), mode: z.string(), uid: z.number(), gid: z.number() })),
        ovfNamespaces: z.record(z.string(), z.string()),
        ovf: z.array(z.array(z.unknown())),
        vmdkHeader: z.object({ version: z.number(), flags: z.string(), capacitySectors: z.number() }),
      }),
    }),
  })
  .parse(JSON.parse(readFileSync("tests/vectors/data/layout.json", "utf8"))).compressed["vmware-amd64.ova"];

/** The elements of an OVF document as the recorded layout lists them, by a parser that is not ours. */
const READ_OVF = `
import json, sys, xml.etree.ElementTree as tree
names = {uri: prefix for prefix, uri in json.loads(sys.argv[2]).items()}
def short(name):
    uri, local = name[1:].split("}")
    return names[uri] + ":" + local
def walk(element, path):
    path = path + "/" + short(element.tag)
    row = [path]
    if element.attrib: row.append({short(key): value for key, value in element.attrib.items()})
    if element.text and element.text.strip(): row.append(element.text)
    yield row
    for child in element: yield from walk(child, path)
print(json.dumps(list(walk(tree.parse(sys.argv[1]).getroot(), ""))))
`;

let inputs: Record<string, string>;
let inputDir: string;
let workshop: DiskWorkshop;
let products: Map<string, Product>;
let file: string;
let folder: string;
const produced = (from: Map<string, Product>, id: string): string => from.get(id)?.path ?? "missing";

beforeAll(async () => {
  inputDir = await mkdtemp(join(tmpdir(), "imager-ova-inputs-"));
  inputs = await smallInputs(inputDir);
  workshop = await diskWorkshop({ files: inputs, steps: STEPS });
  products = await workshop.build(diskPlan(recipe()));
  file = produced(products, "ova");
  folder = join(workshop.dir, "unpacked");
  await mkdir(folder);
  tool("tar", "xf", file, "-C", folder);
});
afterAll(async () => {
  await workshop.close();
  await rm(inputDir, { recursive: true, force: true });
});

describe("vmware-amd64.ova", () => {
  it("is a ustar archive with description, checksums and disk in that order, owner and times fixed", () => {
    expect(readFileSync(file).subarray(257, 265).toString("latin1")).toBe("ustar\x0000");
    const lines = tool("tar", "tvf", file, "--utc", "--full-time", "--numeric-owner").trim().split("\n");
    const members = lines.map((line) => line.split(/\s+/));
    expect(members.map((words) => words.at(-1))).toEqual(known.tar.map(({ name }) => name));
    for (const [mode, owner, , day, time] of members) {
      expect([mode, owner, day, time]).toEqual(["-rw-r--r--", "0/0", "2019-06-01", "21:34:52"]);
    }
  });

  it("carries checksums that sha256sum confirms", () => {
    const manifest = readFileSync(join(folder, "disk.mf"), "utf8");
    expect(manifest).toMatch(/^SHA256\(disk\.vmdk\)= [0-9a-f]{64}\nSHA256\(disk\.ovf\)= [0-9a-f]{64}\n$/);
    // The manifest's form is what the program calls a tagged list.
    shell(`cd ${folder} && sed -E 's/^SHA256\\((.*)\\)= /SHA256 (\\1) = /' disk.mf | sha256sum -c --strict`);
  });

  it("describes the known machine, element by element", () => {
    const path = join(folder, "disk.ovf");
    const rows = z
      .array(z.array(z.unknown()))
      .parse(JSON.parse(tool("python3", "-c", READ_OVF, path, JSON.stringify(known.ovfNamespaces))));
    const size = tool("stat", "-c", "%s", join(folder, "disk.vmdk")).trim();
    const want = JSON.stringify(known.ovf).replace(/"ovf:size":"\d+"/, `"ovf:size":"${size}"`);
    expect(rows).toEqual(JSON.parse(want));
  });

  it("holds the raw disk as a VMDK that qemu-img finds no fault in", () => {
    const vmdk = join(folder, "disk.vmdk");
    tool("qemu-img", "check", "-f", "vmdk", vmdk);
    tool("qemu-img", "compare", "-f", "raw", "-F", "vmdk", produced(products, "disk"), vmdk);
    const head = readFileSync(vmdk).subarray(0, 512);
    expect(head.readUInt32LE(4)).toBe(known.vmdkHeader.version);
    expect(`0x${head.readUInt32LE(8).toString(16)}`).toBe(known.vmdkHeader.flags);
    expect(Number(head.readBigUInt64LE(12))).toBe(known.vmdkHeader.capacitySectors);
    const descriptor = readFileSync(vmdk).subarray(512, 1536).toString("latin1");
    expect(descriptor).toContain('\nCID=fffffffe\nparentCID=ffffffff\ncreateType="streamOptimized"\n');
    expect(descriptor).toContain('"disk.vmdk"');
  });

  it("is made equal twice", async () => {
    const again = await diskWorkshop({ files: inputs, steps: STEPS });
    try {
      const other = await again.build(diskPlan(recipe()));
      expect(sha256(produced(other, "ova"))).toBe(sha256(file));
    } finally {
      await again.close();
    }
  });

  it.each<[OutFormat, string]>([
    [".xz", "xz -dc"],
    [".zst", "zstd -dcq"],
    [".gz", "gzip -dc"],
    [".tar.gz", "tar -xzO disk.raw"],
  ])("%s around it unpacks to it", async (format, unpack) => {
    const packed = await workshop.build(diskPlan(recipe(format)));
    shell(`${unpack} < ${produced(packed, "packed")} | cmp - ${file}`);
  });
});
