/** The release name inside an x86 Linux kernel file (Linux/x86 boot protocol, kernel_version). */

const SETUP_SECTORS = 0x1f1;
const MAGIC = 0x202;
const VERSION_POINTER = 0x20e;
const LONGEST = 256;

/** How many bytes of the file kernelRelease needs to see. */
export const KERNEL_HEAD_BYTES = 0x10000 + 0x200 + LONGEST;

/**
 * Release of a bzImage, for example "6.1.0-57-cloud-amd64", from the first KERNEL_HEAD_BYTES bytes of the file.
 * Null when it is not an x86 boot image or names no release; arm64 images do not carry one in the clear.
 */
export function kernelRelease(head: Uint8Array): string | null {
  if (head.length < VERSION_POINTER + 2) return null;
  const data = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (data.getUint32(MAGIC, true) !== 0x53726448) return null;
  const pointer = data.getUint16(VERSION_POINTER, true);
  const setupBytes = data.getUint8(SETUP_SECTORS) * 0x200;
  if (pointer === 0 || pointer > setupBytes) return null;
  const field = head.subarray(pointer + 0x200, pointer + 0x200 + LONGEST);
  const end = field.indexOf(0);
  if (end < 0) return null;
  const [release = ""] = new TextDecoder("latin1").decode(field.subarray(0, end)).split(" ");
  return release === "" ? null : release;
}
