/** Gives a workshop the boot files of arm64 that the sample release unpacked from Debian's packages. */
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureSampleRelease } from "../../scripts/sample-release/index.ts";
import { type BootWorkshop, strippedStub } from "./imager-boot-fixture.ts";

const UNPACKED = join(import.meta.dirname, "../../.cache/sample-release/debian/unpacked/arm64");

/** systemd's stub and boot loader, and GRUB's modules. */
export async function addArmFiles(shop: BootWorkshop): Promise<void> {
  await ensureSampleRelease();
  const efi = join(UNPACKED, "systemd-boot-efi/usr/lib/systemd/boot/efi");
  await copyFile(join(efi, "systemd-bootaa64.efi"), join(shop.dir, "arm64-systemd-boot.efi"));
  const stub = strippedStub(await readFile(join(efi, "linuxaa64.efi.stub")));
  await writeFile(join(shop.dir, "arm64-systemd-stub.efi"), stub);
  shop.addFolder("usr/lib/grub/arm64-efi", join(UNPACKED, "grub-efi-arm64-bin/usr/lib/grub/arm64-efi"));
}
