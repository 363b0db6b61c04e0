/** Gives the elements of an SPDX document names of their own, so that several documents fit into one. */
import type { SpdxContents, SpdxFile, SpdxPackage, SpdxRelationship } from "./spdx-types.ts";

const ELEMENT = "SPDXRef-";
const LICENSE = /LicenseRef-([A-Za-z0-9.-]+)/g;
/** Values that stand where an element could (SPDX 2.3 §11.1). */
const NO_ELEMENT = new Set(["NONE", "NOASSERTION"]);

export interface RenamedContents {
  packages: SpdxPackage[];
  files: SpdxFile[];
  hasExtractedLicensingInfos: SpdxContents["hasExtractedLicensingInfos"];
  relationships: SpdxRelationship[];
  /** New names of what the document describes. */
  described: string[];
}

/**
 * All names get `prefix` ("2-1"). Relationships to elements that are not in the document are left out: they point into
 * other documents, which do not come along.
 */
export function renameContents(contents: SpdxContents, prefix: string): RenamedContents {
  const names = newNames(contents, prefix);
  const license = (expression: string) => expression.replace(LICENSE, `LicenseRef-${prefix}-$1`);
  const known = (id: string) => names.get(id);
  const packages = contents.packages.map((one) => renamePackage(one, names, license));
  const files = contents.files.map((one) => renameFile(one, names, license));
  const described = [
    ...contents.documentDescribes,
    ...contents.relationships.filter(isDescription).map((one) => one.relatedSpdxElement),
  ].flatMap((id) => known(id) ?? []);
  return {
    packages,
    files,
    hasExtractedLicensingInfos: contents.hasExtractedLicensingInfos.map((one) => ({
      ...one,
      licenseId: license(one.licenseId),
    })),
    relationships: contents.relationships.flatMap((one) => renameRelationship(one, names)),
    described: described.length > 0 ? [...new Set(described)] : packages.map((one) => one.SPDXID),
  };
}

const isDescription = (one: SpdxRelationship) =>
  one.spdxElementId === `${ELEMENT}DOCUMENT` && one.relationshipType === "DESCRIBES";

function newNames({ packages, files }: SpdxContents, prefix: string): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { SPDXID } of [...packages, ...files]) {
    if (names.has(SPDXID)) continue;
    // Only letters, digits, "." and "-" are allowed (SPDX 2.3 §7.2).
    const plain = SPDXID.replace(/^SPDXRef-/, "").replace(/[^A-Za-z0-9.-]+/g, "-") || "element";
    let name = `${ELEMENT}${prefix}-${plain}`;
    for (let n = 2; taken.has(name); n += 1) name = `${ELEMENT}${prefix}-${plain}-${n}`;
    taken.add(name);
    names.set(SPDXID, name);
  }
  return names;
}

type Rename = (text: string) => string;

function renamePackage(one: SpdxPackage, names: Map<string, string>, license: Rename): SpdxPackage {
  const { licenseConcluded, licenseDeclared, licenseInfoFromFiles, hasFiles, ...rest } = one;
  return {
    ...rest,
    SPDXID: names.get(one.SPDXID) ?? one.SPDXID,
    ...(licenseConcluded !== undefined && { licenseConcluded: license(licenseConcluded) }),
    ...(licenseDeclared !== undefined && { licenseDeclared: license(licenseDeclared) }),
    ...(licenseInfoFromFiles && { licenseInfoFromFiles: licenseInfoFromFiles.map(license) }),
    ...(hasFiles && { hasFiles: hasFiles.flatMap((id) => names.get(id) ?? []) }),
  };
}

function renameFile(one: SpdxFile, names: Map<string, string>, license: Rename): SpdxFile {
  const { licenseConcluded, licenseInfoInFiles, ...rest } = one;
  return {
    ...rest,
    SPDXID: names.get(one.SPDXID) ?? one.SPDXID,
    ...(licenseConcluded !== undefined && { licenseConcluded: license(licenseConcluded) }),
    ...(licenseInfoInFiles && { licenseInfoInFiles: licenseInfoInFiles.map(license) }),
  };
}

function renameRelationship(one: SpdxRelationship, names: Map<string, string>): SpdxRelationship[] {
  const from = names.get(one.spdxElementId);
  const to = NO_ELEMENT.has(one.relatedSpdxElement)
    ? one.relatedSpdxElement
    : names.get(one.relatedSpdxElement);
  return from === undefined || to === undefined
    ? []
    : [{ ...one, spdxElementId: from, relatedSpdxElement: to }];
}
