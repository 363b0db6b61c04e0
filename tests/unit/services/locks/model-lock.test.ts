/** Locks without a factory: what differs between two machines, and which packages one of them has. */
import { describe, expect, it } from "vitest";
import { type LockBuilder, lockDifferences, parseModelLock } from "../../../../lib/domain/model-lock.ts";
import { packageVersions } from "../../../../lib/services/locks/lock-builder.ts";

const HEX = "a".repeat(64);
const builder: LockBuilder = {
  externalUrl: "https://factory.test",
  operations: { initramfs: 1, iso: 1, "grub-iso": 2 },
  tools: { "xz-utils": "5.4.1-1", xorriso: "1.5.4-4" },
  grub: { "x86_64-efi": HEX },
  secureBoot: { certificate: HEX, pcrKey: HEX, databases: null },
};
const needs = { operations: ["initramfs", "iso"], secureBoot: false };

describe("differences", () => {
  it("are none between equal machines", () => {
    expect(lockDifferences(builder, structuredClone(builder), needs)).toEqual([]);
  });

  it("count for operations that the plan uses, and for packages known on both machines", () => {
    const here = { ...builder, operations: { iso: 2, "grub-iso": 3 }, tools: { "xz-utils": "5.6.0-1" } };
    expect(lockDifferences(builder, here, needs)).toEqual([
      "operation initramfs is missing, was 1",
      "operation iso is 2, was 1",
      "package xz-utils is 5.6.0-1, was 5.4.1-1",
    ]);
  });

  it("count for GRUB and for keys only where a plan uses them", () => {
    const here = { ...builder, grub: {}, secureBoot: null };
    expect(lockDifferences(builder, here, needs)).toEqual([]);
    expect(lockDifferences(builder, here, { operations: ["iso"], secureBoot: true })).toEqual([
      "SecureBoot files are signed with other keys",
    ]);
    const other = { ...builder, grub: { "x86_64-efi": "b".repeat(64) } };
    expect(lockDifferences(builder, other, { operations: ["grub-iso"], secureBoot: false })).toEqual([
      `GRUB for x86_64-efi is ${"b".repeat(64)}, was ${HEX}`,
    ]);
  });
});

describe("packages", () => {
  it("are those that are installed and wanted", () => {
    const status = [
      "Package: xz-utils\nStatus: install ok installed\nVersion: 5.4.1-1",
      "Package: xorriso\nStatus: deinstall ok config-files\nVersion: 1.5.4-4",
      "Package: bash\nStatus: install ok installed\nVersion: 5.2-1",
    ].join("\n\n");
    expect(packageVersions(status, new Set(["xz-utils", "xorriso"]))).toEqual({ "xz-utils": "5.4.1-1" });
    expect(packageVersions("", new Set(["xz-utils"]))).toEqual({});
  });
});

it("a document that is no lock is refused with the place of what is wrong", () => {
  expect(() => parseModelLock({ v: 2 })).toThrow(/^this is not a lock: v:/);
});
