/** The text descriptor inside a VMDK file (VMware Virtual Disk Format 1.1, "The Descriptor"), without chance in it. */

const SECTOR = 512;
/** "KDMV" */
const MAGIC = 0x564d444b;
/** Content ID of a disk nobody has written to since it was made. */
const CONTENT_ID = "fffffffe";

/**
 * The descriptor (text and the zeros behind it) with a fixed content ID, in as many bytes as before. RangeError when
 * there is no content ID in it, or no room for one.
 */
export function fixedVmdkDescriptor(descriptor: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(descriptor).replace(/\0+$/, "");
  const fixed = text.replace(/^CID=[0-9a-f]+$/m, `CID=${CONTENT_ID}`);
  if (!fixed.includes(`\nCID=${CONTENT_ID}\n`)) throw new RangeError("the VMDK descriptor has no content ID");
  const bytes = new TextEncoder().encode(fixed);
  if (bytes.length > descriptor.length)
    throw new RangeError("the VMDK descriptor has no room for a content ID");
  const padded = new Uint8Array(descriptor.length);
  padded.set(bytes);
  return padded;
}

/** Place of the descriptor in a sparse VMDK file, in bytes, read from the file's first sector. RangeError for other files. */
export function vmdkDescriptorPlace(header: Uint8Array): { offset: number; length: number } {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (header.length < SECTOR || view.getUint32(0, true) !== MAGIC)
    throw new RangeError("not a sparse VMDK file");
  const sectors = (at: number): number => Number(view.getBigUint64(at, true)) * SECTOR;
  return { offset: sectors(28), length: sectors(36) };
}
