/** Whether a client that asks for a tag understands an index, or wants the image of one platform (RFC 9110 §12.5.1). */

const INDEXES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const IMAGES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const ANY = ["*/*", "application/*"];

/** False only for a client that names image manifests and no index: such clients predate indexes. */
export function acceptsIndex(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  const types = accept.split(",").map((part) => part.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const names = (list: string[]) => types.some((type) => list.includes(type));
  return names(INDEXES) || names(ANY) || !names(IMAGES);
}
