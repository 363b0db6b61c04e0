import { openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { arch } from "node:process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ELF_MACHINES, elfMachineName, type ReadAt, readElf } from "../../../lib/formats/elf.ts";
import { dynamicElf, kernelModule } from "../../fixtures/elf-files.ts";
import { staticProgram } from "../../fixtures/static-program.ts";

const loadedSchema = z.object({ sharedObjects: z.array(z.string()) });

const inBytes =
  (bytes: Uint8Array): ReadAt =>
  async (offset, length) =>
    bytes.subarray(Math.min(offset, bytes.length), Math.min(offset + length, bytes.length));

describe("ELF facts", () => {
  it("of a real program are those of the process that it became", async () => {
    const file = openSync(process.execPath, "r");
    const reads: number[] = [];
    const facts = await readElf(async (offset, length) => {
      reads.push(length);
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    });
    expect(facts?.machine).toBe(arch === "arm64" ? ELF_MACHINES.arm64 : ELF_MACHINES.amd64);
    expect(facts?.interpreter).toMatch(/^\/lib(64)?\/ld-/);
    // What the loader really brought into this process.
    const loaded = loadedSchema.parse(process.report.getReport()).sharedObjects.map((path) => basename(path));
    expect(facts?.needed).toContain("libc.so.6");
    for (const name of facts?.needed ?? []) expect(loaded).toContain(name);
    // A program of a hundred megabytes is not read whole.
    expect(reads.reduce((sum, length) => sum + length, 0)).toBeLessThan(1 << 20);
  });

  it("tell programs, libraries and modules apart", async () => {
    const facts = (bytes: Buffer) => readElf(inBytes(bytes));
    expect(await facts(staticProgram("arm64", "x"))).toMatchObject({
      ...{ kind: "executable", machine: 183, interpreter: null, needed: [] },
    });
    const shape = {
      interpreter: "/lib/ld.so",
      needed: ["a.so", "b.so"],
      runPath: "/x:$ORIGIN/y",
      rpath: "/z",
    };
    expect(await facts(dynamicElf(shape))).toMatchObject({
      ...{ kind: "shared", interpreter: "/lib/ld.so", needed: ["a.so", "b.so"] },
      runPaths: ["/x", "$ORIGIN/y", "/z"],
    });
    expect((await facts(kernelModule("6.1.0 SMP")))?.modinfo).toEqual(["license=GPL", "vermagic=6.1.0 SMP"]);
    expect(await facts(Buffer.from("#!/bin/sh\n".repeat(20)))).toBeNull();
    expect([elfMachineName(243), elfMachineName(9999)]).toEqual(["riscv64", "ELF machine 9999"]);
  });

  it("are read out of damaged files without failing", async () => {
    const whole = [
      dynamicElf({ interpreter: "/lib/ld.so", needed: ["a.so"] }),
      kernelModule("6.1.0"),
      staticProgram("amd64", "x"),
    ];
    const damage = fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...whole), damage, fc.nat(600), async (bytes, changes, end) => {
        const copy = Buffer.from(bytes);
        for (const [at, byte] of changes) if (at > 4 && at < copy.length) copy[at] = byte;
        const facts = await readElf(inBytes(copy.subarray(0, Math.max(52, end))));
        expect(facts === null || Array.isArray(facts.needed)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
