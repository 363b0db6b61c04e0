/** Disk images of the factory in each of its formats, made bootable for QEMU: as they are, or converted back by qemu-img. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Firmware } from "../../scripts/boot/machine.ts";
import type { BootMedium, DiskHardware } from "../../scripts/boot/media.ts";
import type { TestFactory } from "../fixtures/factory.ts";
import { unpacked } from "./machines.ts";

const execute = promisify(execFile);

/** Formats and the names under which the factory serves them; OVA packages are for VMware's hypervisors. */
export const DISK_FORMATS = {
  qcow2: "metal-amd64.qcow2",
  vhd: "metal-amd64.vhd.zst",
  ova: "vmware-amd64.ova",
} as const;
export type DiskFormat = keyof typeof DISK_FORMATS;

/** Asks the factory for the disk of `folder` ("/image/<id>/<version>") and gives the medium to boot from. */
export async function diskMedium(
  factory: TestFactory,
  folder: string,
  format: DiskFormat,
  firmware: Firmware,
): Promise<BootMedium> {
  const file = await factory.fetch(`${folder}/${DISK_FORMATS[format]}`);
  if (format === "qcow2") return { kind: "disk", path: file, format, firmware };
  if (format === "vhd") return { kind: "disk", path: await asRaw(await unpacked(file), "vpc"), firmware };
  const dir = await mkdtemp(join(factory.dataDir, "ova-"));
  await execute("tar", ["-xf", file, "-C", dir, "disk.vmdk"]);
  return { kind: "disk", path: await asRaw(join(dir, "disk.vmdk"), "vmdk"), firmware };
}

/** The disk with sectors of 4096 bytes, as hardware that has no others sees it. */
export async function largeSectorMedium(
  factory: TestFactory,
  path: string,
  controller: DiskHardware["controller"] = "nvme",
): Promise<BootMedium> {
  const disk = await unpacked(await factory.fetch(path));
  return { kind: "disk", path: disk, firmware: "uefi", hardware: { controller, sectorBytes: 4096 } };
}

/** Converts to a raw file beside it and removes the other. */
async function asRaw(file: string, format: "vpc" | "vmdk"): Promise<string> {
  const raw = `${file}.raw`;
  await execute("qemu-img", ["convert", "-f", format, "-O", "raw", file, raw]);
  await rm(file);
  return raw;
}
