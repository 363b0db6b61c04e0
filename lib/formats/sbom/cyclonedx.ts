/** A CycloneDX 1.6 document (https://cyclonedx.org/docs/1.6/json/) with what the SPDX document of an image says. */
import { ROOT, type SpdxDocument } from "./spdx-merge.ts";
import type { SpdxPackage, SpdxRelationship } from "./spdx-types.ts";

export const CYCLONEDX_MEDIA_TYPE = "application/vnd.cyclonedx+json";

type Component = Record<string, unknown>;

const TYPES: Partial<Record<NonNullable<SpdxPackage["primaryPackagePurpose"]>, string>> = {
  APPLICATION: "application",
  CONTAINER: "container",
  DEVICE: "device",
  FILE: "file",
  FIRMWARE: "firmware",
  FRAMEWORK: "framework",
  OPERATING_SYSTEM: "operating-system",
};

/** Names of hash algorithms that both formats have, with the digits of their values. */
const HASHES: Record<string, [name: string, digits: number]> = {
  MD5: ["MD5", 32],
  SHA1: ["SHA-1", 40],
  SHA256: ["SHA-256", 64],
  SHA384: ["SHA-384", 96],
  SHA512: ["SHA-512", 128],
  "SHA3-256": ["SHA3-256", 64],
  "SHA3-384": ["SHA3-384", 96],
  "SHA3-512": ["SHA3-512", 128],
};

/** Which way a relationship points when it is read as "needs". */
const NEEDS: Record<string, "forward" | "backward"> = {
  CONTAINS: "forward",
  DEPENDS_ON: "forward",
  CONTAINED_BY: "backward",
  DEPENDENCY_OF: "backward",
};

const CPE23 = /^cpe:2\.3:[aho*-](:[^\s:]+){10}$/;
const UNSAID = new Set(["NOASSERTION", "NONE", ""]);

/** Packages become components, containment and dependency become dependencies. `serial` is a UUID. */
export function toCycloneDx(document: SpdxDocument, serial: string): unknown {
  const root = document.packages.find((one) => one.SPDXID === ROOT);
  const others = document.packages.filter((one) => one.SPDXID !== ROOT);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: {
      timestamp: document.creationInfo.created,
      tools: { components: [{ type: "application", name: "casthouse" }] },
      ...(root === undefined ? {} : { component: toComponent(root) }),
      properties: [{ name: "casthouse:comment", value: document.comment }],
    },
    components: others.map(toComponent),
    dependencies: toDependencies(document.packages, document.relationships),
  };
}

function toComponent(one: SpdxPackage): Component {
  const license = [one.licenseConcluded, one.licenseDeclared].find((text) => !UNSAID.has(text ?? ""));
  const purl = one.externalRefs?.find((ref) => ref.referenceType === "purl")?.referenceLocator;
  const cpe = one.externalRefs?.find((ref) => CPE23.test(ref.referenceLocator))?.referenceLocator;
  const hashes = (one.checksums ?? []).flatMap(toHash);
  const supplier = /^(?:Organization|Person): (.+)$/.exec(one.supplier ?? "")?.[1];
  return {
    type: TYPES[one.primaryPackagePurpose ?? "LIBRARY"] ?? "library",
    "bom-ref": one.SPDXID,
    ...(supplier === undefined ? {} : { supplier: { name: supplier } }),
    name: one.name,
    ...(one.versionInfo === undefined ? {} : { version: one.versionInfo }),
    ...(one.description === undefined ? {} : { description: one.description }),
    ...(hashes.length === 0 ? {} : { hashes }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(UNSAID.has(one.copyrightText ?? "") ? {} : { copyright: one.copyrightText }),
    ...(cpe === undefined ? {} : { cpe }),
    ...(purl === undefined ? {} : { purl }),
    ...(one.comment === undefined ? {} : { properties: [{ name: "casthouse:comment", value: one.comment }] }),
  };
}

function toHash({ algorithm, checksumValue }: { algorithm: string; checksumValue: string }) {
  const [alg, digits] = (Object.hasOwn(HASHES, algorithm) ? HASHES[algorithm] : undefined) ?? [];
  const content = checksumValue.toLowerCase();
  return alg !== undefined && content.length === digits && /^[0-9a-f]+$/.test(content)
    ? [{ alg, content }]
    : [];
}

function toDependencies(packages: readonly SpdxPackage[], relationships: readonly SpdxRelationship[]) {
  const needs = new Map(packages.map((one) => [one.SPDXID, new Set<string>()]));
  for (const { spdxElementId, relationshipType, relatedSpdxElement } of relationships) {
    const way = Object.hasOwn(NEEDS, relationshipType) ? NEEDS[relationshipType] : undefined;
    if (way === undefined) continue;
    const [from, to] =
      way === "forward" ? [spdxElementId, relatedSpdxElement] : [relatedSpdxElement, spdxElementId];
    if (from !== to && needs.has(to)) needs.get(from)?.add(to);
  }
  return [...needs].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] }));
}
