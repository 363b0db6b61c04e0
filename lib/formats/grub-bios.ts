/** Puts addresses into GRUB's two BIOS images, as its own installer does for a core in a BIOS boot partition. */

/** Offset in boot.img of the sector number where the core image begins. */
const BOOT_CORE_SECTOR = 0x5c;
/** Offset in boot.img of a jump that skips the fix for BIOSes which pass a wrong drive number. */
const BOOT_DRIVE_CHECK = 0x66;
const TWO_NOPS = [0x90, 0x90];
/** Offset in the core's first sector of the sector number where the rest of it begins. */
const CORE_NEXT_SECTOR = 0x1f4;

function withSector(image: Uint8Array, offset: number, sector: number): Uint8Array {
  const copy = Uint8Array.from(image);
  new DataView(copy.buffer).setBigUint64(offset, BigInt(sector), true);
  return copy;
}

/** boot.img for a core that begins at sector `coreSector`. */
export function patchedBootImage(bootImage: Uint8Array, coreSector: number): Uint8Array {
  const copy = withSector(bootImage, BOOT_CORE_SECTOR, coreSector);
  copy.set(TWO_NOPS, BOOT_DRIVE_CHECK);
  return copy;
}

/** core.img for that place: the sectors behind the first follow it directly. */
export const patchedCoreImage = (coreImage: Uint8Array, coreSector: number): Uint8Array =>
  withSector(coreImage, CORE_NEXT_SECTOR, coreSector + 1);
