/** Content-Type of downloadable files, by the extension of their name. */

const TYPES: Record<string, string> = {
  efi: "application/efi",
  gz: "application/gzip",
  iso: "application/x-iso9660-image",
  qcow2: "application/x-qemu-disk",
  tar: "application/x-tar",
  xz: "application/x-xz",
  zst: "application/zstd",
};

/** The media type for a file name such as `metal-amd64.raw.xz`; `application/octet-stream` when nothing better is known. */
export function contentTypeOf(fileName: string): string {
  const dot = fileName.lastIndexOf(".");
  const extension = dot < 0 ? "" : fileName.slice(dot + 1);
  return (Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined) ?? "application/octet-stream";
}
