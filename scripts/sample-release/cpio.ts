/** The stock initramfs: a newc archive of "." and the given files, sorted by name. */
import {
  CPIO_FILE,
  CPIO_FOLDER,
  type CpioMember,
  cpioHeader,
  cpioPadding,
  cpioTrailer,
} from "../../lib/formats/cpio.ts";

/** A newc archive of the folder "." and regular files; every field that could vary is fixed. */
export function newcArchive(
  files: { name: string; mode: number; bytes: Uint8Array }[],
  mtime: number,
): Buffer {
  const parts: Uint8Array[] = [];
  const add = (member: CpioMember, inode: number, bytes: Uint8Array): void => {
    parts.push(cpioHeader(member, inode), bytes, cpioPadding(bytes.length));
  };
  add({ name: ".", mode: CPIO_FOLDER | 0o755, links: 2, sizeBytes: 0, mtime }, 0, new Uint8Array());
  [...files]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .forEach(({ name, mode, bytes }, index) => {
      add({ name, mode: CPIO_FILE | mode, links: 1, sizeBytes: bytes.length, mtime }, index + 1, bytes);
    });
  parts.push(cpioTrailer(parts.reduce((sum, part) => sum + part.length, 0)));
  return Buffer.concat(parts);
}
