/** What the machines of the boot tests are made of, without starting one. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { machineArgs, uefiArgs } from "../../../scripts/boot/machine.ts";
import { firmwareOf, mediumArgs } from "../../../scripts/boot/media.ts";
import { bootTable, readBootRows } from "../../../scripts/boot/table.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-machines-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe("a machine with Secure Boot", () => {
  it("has system management mode, protected variables and the firmware that requires both", async () => {
    const board = machineArgs("amd64", { accelerator: "tcg", memoryMiB: 512, secure: true });
    expect(board).toContain("q35,smm=on");
    expect(board).toContain("driver=cfi.pflash01,property=secure,value=on");
    const vars = join(dir, "kept.fd");
    const firmware = (await uefiArgs("amd64", dir, vars)).join(" ");
    expect(firmware).toContain("readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd");
    expect(firmware).toContain(`unit=1,format=raw,file=${vars}`);
  });

  it("differs from a machine without", () => {
    const board = machineArgs("amd64", { accelerator: "kvm", memoryMiB: 512, secure: false });
    expect(board.join(" ")).not.toContain("smm");
    expect(board).toContain("kvm");
  });
});

describe("a disk", () => {
  const args = (path: string, hardware = {}) =>
    mediumArgs({ kind: "disk", path, firmware: "bios", hardware }, { arch: "amd64", dir });

  it("is never written, and a comma in its name stays part of the name", async () => {
    expect(await args("/a,b.raw")).toEqual([
      ...["-drive", "file=/a,,b.raw,format=raw,if=none,id=disk,snapshot=on"],
      ...["-device", "virtio-blk-pci,drive=disk", "-nic", "none"],
    ]);
  });

  it("has sectors of the size and the controller that were asked for", async () => {
    expect(await args("/x", { controller: "nvme", sectorBytes: 4096 })).toContain(
      "nvme,serial=casthouse,drive=disk,logical_block_size=4096,physical_block_size=4096",
    );
  });
});

it("gives iPXE its script by DHCP where UEFI starts it", async () => {
  const program = join(dir, "own.efi");
  await writeFile(program, "program");
  const around = {
    arch: "amd64",
    dir: await mkdtemp(join(dir, "ipxe-")),
    secureVars: join(dir, "v"),
  } as const;
  const medium = { kind: "ipxe", firmware: "uefi", script: ["chain http://x"], program } as const;
  const args = await mediumArgs(medium, around);
  expect(args).toContain(`user,id=net0,tftp=${join(around.dir, "tftp")},bootfile=boot.ipxe`);
  expect(await readFile(join(around.dir, "tftp/boot.ipxe"), "utf8")).toBe("#!ipxe\ndhcp\nchain http://x\n");
  expect(await readFile(join(around.dir, "esp/EFI/BOOT/BOOTX64.EFI"), "utf8")).toBe("program");
  expect(firmwareOf({ kind: "efi", path: program })).toBe("uefi");
});

it("prints the rows of a run as a table", async () => {
  const row = { what: "a | b", medium: "iso", firmware: "arm64 uefi", accelerator: "tcg", seconds: 6.04 };
  const file = join(dir, "rows");
  await writeFile(file, `${JSON.stringify({ ...row, reported: "v1" })}\n`);
  expect(
    bootTable(await readBootRows(file))
      .split("\n")
      .at(-1),
  ).toBe("| a \\| b | iso | arm64 uefi | tcg | 6.0 | v1 |");
  expect(await readBootRows(join(dir, "none"))).toEqual([]);
});
