import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signablePe, signPe } from "../../../lib/formats/authenticode.ts";
import { parsePe } from "../../../lib/formats/pe.ts";
import { type TestKeys, testKeys } from "../../fixtures/secure-boot.ts";

const execute = promisify(execFile);
const SYSTEMD_BOOT = "/usr/lib/systemd/boot/efi/systemd-bootx64.efi";

let dir: string;
let mine: TestKeys;
let other: TestKeys;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "authenticode-"));
  [mine, other] = [await testKeys(dir), await testKeys(dir)];
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function signed(program: Uint8Array, { keys }: TestKeys): Buffer {
  const pe = signablePe(program, program.length);
  const bytes = Buffer.alloc(pe.contentBytes);
  bytes.set(program.subarray(0, pe.contentBytes));
  const hash = createHash("sha256");
  for (const { offset, length } of pe.hashed) hash.update(bytes.subarray(offset, offset + length));
  const { tableEntry, table } = signPe(pe, hash.digest(), keys);
  bytes.set(tableEntry, pe.tableEntryOffset);
  return Buffer.concat([bytes, table]);
}

async function accepts(program: Buffer, { files }: TestKeys): Promise<boolean> {
  const path = join(dir, "program.efi");
  await writeFile(path, program);
  return await execute("sbverify", ["--cert", files.signingCertificate, path]).then(
    ({ stdout }) => stdout.includes("Signature verification OK"),
    () => false,
  );
}

describe("a signed EFI program", () => {
  it("is accepted by sbverify with its certificate, and with no other", async () => {
    const program = signed(await readFile(SYSTEMD_BOOT), mine);
    expect(await accepts(program, mine)).toBe(true);
    expect(await accepts(program, other)).toBe(false);
  });

  it("is refused when one byte of header, code or trailing data changes", async () => {
    const program = signed(await readFile(SYSTEMD_BOOT), mine);
    const { sections } = parsePe(program);
    for (const at of [0x50, sections[0]?.rawOffset ?? 0, (sections.at(-1)?.rawOffset ?? 0) + 1024]) {
      const changed = Buffer.from(program);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect(await accepts(changed, mine), `byte ${at}`).toBe(false);
    }
  });

  it("is hashed as sbsign does it", async () => {
    const [own, theirs] = [join(dir, "own.efi"), join(dir, "theirs.efi")];
    await copyFile(SYSTEMD_BOOT, own);
    await execute("sbsign", [
      ...["--key", mine.files.signingKey, "--cert", mine.files.signingCertificate],
      ...["--output", theirs, own],
    ]);
    const digestIn = (program: Buffer) => {
      const { contentBytes } = signablePe(program, program.length);
      const table = program.subarray(contentBytes);
      const at = table.indexOf(Buffer.from("060960864801650304020105000420", "hex"));
      return table.subarray(at + 15, at + 47).toString("hex");
    };
    const program = signed(await readFile(SYSTEMD_BOOT), mine);
    expect(digestIn(program)).toMatch(/^[0-9a-f]{64}$/);
    expect(digestIn(program)).toBe(digestIn(await readFile(theirs)));
  });

  it("is the same each time, and the same again when it is signed once more", async () => {
    const program = await readFile(SYSTEMD_BOOT);
    const once = signed(program, mine);
    expect(signed(program, mine).equals(once)).toBe(true);
    expect(signed(once, mine).equals(once)).toBe(true);
  });

  it("loses an older signature by another key", async () => {
    const program = signed(signed(await readFile(SYSTEMD_BOOT), other), mine);
    expect(await accepts(program, mine)).toBe(true);
    expect(await accepts(program, other)).toBe(false);
  });

  it("has a certificate table that ends the file at a multiple of eight bytes", async () => {
    const unsigned = await readFile(SYSTEMD_BOOT);
    const odd = Buffer.concat([unsigned, Buffer.alloc(11 - (unsigned.length % 8), 1)]);
    const program = signed(odd, mine);
    const { contentBytes, tableEntryOffset } = signablePe(program, program.length);
    expect(odd.length % 8).toBe(3);
    expect(contentBytes).toBe(odd.length + 5);
    const [offset, size] = [
      program.readUInt32LE(tableEntryOffset),
      program.readUInt32LE(tableEntryOffset + 4),
    ];
    expect([offset, size % 8, offset + size]).toEqual([contentBytes, 0, program.length]);
    expect(program.readUInt32LE(offset)).toBe(size);
    expect(program.readUInt32LE(offset + 4)).toBe(0x00020200);
    expect(await accepts(program, mine)).toBe(true);
  });
});

describe("what cannot be signed", () => {
  it("is a file cut off, or one whose sections leave gaps", async () => {
    const program = await readFile(SYSTEMD_BOOT);
    expect(() => signablePe(program, 100_000)).toThrow("the PE image is cut off");
    const { signatureOffset, optionalHeaderBytes } = parsePe(program);
    const second = signatureOffset + 24 + optionalHeaderBytes + 40;
    program.writeUInt32LE(program.readUInt32LE(second + 20) + 512, second + 20);
    expect(() => signablePe(program, program.length)).toThrow("does not follow the one before");
  });
});
