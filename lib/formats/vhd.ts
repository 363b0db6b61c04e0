/** Footer of a fixed virtual hard disk (Virtual Hard Disk Image Format Specification 1.0). */
import { guidBytes, guidFromLabel } from "./guid.ts";

const FOOTER_BYTES = 512;
/** Seconds between 1970 and 2000, where the format's clock starts. */
const EPOCH_2000 = 946_684_800;

/** The largest geometry there is: it says that the size fields, which are exact, tell how large the disk is. */
const GEOMETRY = { cylinders: 65_535, heads: 16, sectors: 255 };

/** The 512 bytes that follow the disk's own bytes; `seconds` since 1970 is the time it claims to be made at. */
export function fixedVhdFooter(diskBytes: number, seconds: number): Uint8Array {
  const footer = new Uint8Array(FOOTER_BYTES);
  const view = new DataView(footer.buffer);
  const text = new TextEncoder();
  footer.set(text.encode("conectix"), 0);
  view.setUint32(8, 2);
  view.setUint32(12, 0x00010000);
  view.setBigUint64(16, 0xffffffffffffffffn);
  view.setUint32(24, Math.max(0, seconds - EPOCH_2000));
  // "qem2" tells readers that the size fields, not the geometry, give the size of the disk.
  footer.set(text.encode("qem2"), 28);
  view.setUint32(32, 0x00050003);
  footer.set(text.encode("Wi2k"), 36);
  view.setBigUint64(40, BigInt(diskBytes));
  view.setBigUint64(48, BigInt(diskBytes));
  view.setUint16(56, GEOMETRY.cylinders);
  view.setUint8(58, GEOMETRY.heads);
  view.setUint8(59, GEOMETRY.sectors);
  view.setUint32(60, 2);
  footer.set(guidBytes(guidFromLabel("talos-image-disk")), 68);
  const sum = footer.reduce((total, byte) => total + byte, 0);
  view.setUint32(64, ~sum >>> 0);
  return footer;
}
