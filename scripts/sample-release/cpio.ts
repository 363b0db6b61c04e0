/** The stock initramfs: a newc archive of "." and the given files, sorted, as the kernel's initramfs format describes it. */

const field = (value: number): string => value.toString(16).padStart(8, "0");

/** A newc archive of the folder "." and regular executable-or-plain files; every field that could vary is fixed. */
export function newcArchive(
  files: { name: string; mode: number; bytes: Uint8Array }[],
  mtime: number,
): Buffer {
  const parts: Buffer[] = [];
  const add = (inode: number, name: string, mode: number, links: number, bytes: Uint8Array): void => {
    const fields = [inode, mode, 0, 0, links, mtime, bytes.length, 0, 0, 0, 0, name.length + 1, 0];
    parts.push(padded(Buffer.from(`070701${fields.map(field).join("")}${name}\0`)), padded(bytes));
  };
  add(0, ".", 0o040755, 2, new Uint8Array());
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  sorted.forEach((file, index) => {
    add(index + 1, file.name, 0o100000 | file.mode, 1, file.bytes);
  });
  add(0, "TRAILER!!!", 0, 1, new Uint8Array());
  const archive = Buffer.concat(parts);
  return Buffer.concat([archive, Buffer.alloc((512 - (archive.length % 512)) % 512)]);
}

/** Zero bytes up to the next multiple of four. */
function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}
