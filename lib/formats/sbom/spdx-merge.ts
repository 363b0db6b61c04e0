/** One SPDX 2.3 document out of many: a root package, one package per source image, and what those images say of themselves. */
import { renameContents } from "./spdx-rename.ts";
import type { SpdxContents, SpdxFile, SpdxLicense, SpdxPackage, SpdxRelationship } from "./spdx-types.ts";

/** A source image that the merged document is about. */
export interface SbomPart {
  name: string;
  version: string;
  /** Who made it, for people; empty when not known. */
  author: string;
  description: string;
  /** Package URL of the image. */
  purl: string;
  purpose: "OPERATING_SYSTEM" | "INSTALL";
  /** How this record came to be. */
  comment: string;
  documents: SpdxContents[];
}

/** A merged document without the names that tie it to one schematic. */
export interface SbomBody {
  version: string;
  arch: string;
  comment: string;
  created: string;
  packages: SpdxPackage[];
  files: SpdxFile[];
  hasExtractedLicensingInfos: SpdxLicense[];
  relationships: SpdxRelationship[];
}

export interface SpdxDocument extends Omit<SbomBody, "version" | "arch" | "created"> {
  spdxVersion: "SPDX-2.3";
  dataLicense: "CC0-1.0";
  SPDXID: string;
  name: string;
  documentNamespace: string;
  creationInfo: { created: string; creators: string[] };
}

export const DOCUMENT = "SPDXRef-DOCUMENT";
export const ROOT = "SPDXRef-Image";
const TOOL = "Tool: casthouse";
const UNKNOWN = "NOASSERTION";

/** Merges the parts, in the order given. Pure: equal parts give equal documents. */
export function mergeSpdx(
  about: Pick<SbomBody, "version" | "arch" | "comment" | "created">,
  parts: readonly SbomPart[],
): SbomBody {
  const body: SbomBody = {
    ...about,
    packages: [],
    files: [],
    hasExtractedLicensingInfos: [],
    relationships: [relation(DOCUMENT, "DESCRIBES", ROOT)],
  };
  for (const [index, part] of parts.entries()) addPart(body, part, index + 1);
  return body;
}

/** One by one: as many arguments as a large document has are more than a call may have. */
function append<T>(list: T[], more: readonly T[]): void {
  for (const item of more) list.push(item);
}

function addPart(body: SbomBody, part: SbomPart, number: number): void {
  const id = `SPDXRef-Source-${number}`;
  body.packages.push(partPackage(id, part));
  body.relationships.push(relation(ROOT, "CONTAINS", id));
  for (const [index, document] of part.documents.entries()) {
    const renamed = renameContents(document, `${number}-${index + 1}`);
    append(body.packages, renamed.packages);
    append(body.files, renamed.files);
    append(body.hasExtractedLicensingInfos, renamed.hasExtractedLicensingInfos);
    append(body.relationships, renamed.relationships);
    for (const described of renamed.described) body.relationships.push(relation(id, "CONTAINS", described));
  }
}

const relation = (from: string, type: string, to: string): SpdxRelationship => ({
  spdxElementId: from,
  relationshipType: type,
  relatedSpdxElement: to,
});

function partPackage(id: string, part: SbomPart): SpdxPackage {
  return {
    SPDXID: id,
    name: part.name,
    versionInfo: part.version,
    supplier: part.author === "" ? UNKNOWN : `Organization: ${part.author}`,
    downloadLocation: UNKNOWN,
    filesAnalyzed: false,
    licenseConcluded: UNKNOWN,
    licenseDeclared: UNKNOWN,
    copyrightText: UNKNOWN,
    ...(part.description === "" ? {} : { description: part.description }),
    comment: part.comment,
    primaryPackagePurpose: part.purpose,
    externalRefs: [
      { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: part.purl },
    ],
  };
}

/** The whole document of one schematic. `namespace` must be unique to the contents (SPDX 2.3 §6.5). */
export function nameSpdx(body: SbomBody, schematicId: string, namespace: string): SpdxDocument {
  const { version, arch, created, packages, comment, ...rest } = body;
  const root: SpdxPackage = {
    SPDXID: ROOT,
    name: `talos-${schematicId}`,
    versionInfo: version,
    downloadLocation: UNKNOWN,
    filesAnalyzed: false,
    licenseConcluded: UNKNOWN,
    licenseDeclared: UNKNOWN,
    copyrightText: UNKNOWN,
    primaryPackagePurpose: "OPERATING_SYSTEM",
  };
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: DOCUMENT,
    name: `talos-${schematicId}-${version}-${arch}`,
    documentNamespace: namespace,
    creationInfo: { created, creators: [TOOL] },
    comment,
    packages: [root, ...packages],
    ...rest,
  };
}

/** Package URL of an OCI image (purl-spec, type "oci"). */
export function ociPurl(image: {
  repository: string;
  registry: string;
  digest: string;
  arch: string;
  tag: string;
}): string {
  const name = image.repository.slice(image.repository.lastIndexOf("/") + 1).toLowerCase();
  const query = new URLSearchParams({
    arch: image.arch,
    repository_url: `${image.registry}/${image.repository}`,
    tag: image.tag,
  });
  return `pkg:oci/${encodeURIComponent(name)}@${encodeURIComponent(image.digest)}?${query}`;
}
