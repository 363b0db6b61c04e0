/** Bills of materials: valid by the published schemas, merged without clashes, shared without leaking IDs. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Schematic } from "../../../../lib/domain/schematic-types.ts";
import { toCycloneDx } from "../../../../lib/formats/sbom/cyclonedx.ts";
import {
  mergeSpdx,
  nameSpdx,
  ociPurl,
  type SbomPart,
  type SpdxDocument,
} from "../../../../lib/formats/sbom/spdx-merge.ts";
import { parseSpdx } from "../../../../lib/formats/sbom/spdx-types.ts";
import type { ReleaseService, SchematicService } from "../../../../lib/services/contracts.ts";
import type { SourceTexts } from "../../../../lib/services/evidence/sbom-sources.ts";
import { createSbomService } from "../../../../lib/services/evidence/sboms.ts";
import { DirectoryStore } from "../../../../lib/storage/directory-store.ts";
import { fakeRelease } from "../../../fixtures/releases.ts";

const isSpdx = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync("tests/fixtures/data/spdx-2.3.schema.json", "utf8")),
);
const cyclonedx = new Validation.JsonStrictValidator(Spec.Version.v1dot6);

function checkSpdx(document: unknown): void {
  expect(isSpdx(document) ? [] : isSpdx.errors).toEqual([]);
}

/** A document as a generator writes it: files, own licences, fields the standard does not know. */
const rich = JSON.stringify({
  spdxVersion: "SPDX-2.3",
  SPDXID: "SPDXRef-DOCUMENT",
  name: "any",
  madeUp: true,
  creationInfo: { created: "2024-01-01T00:00:00Z", creators: ["Tool: other"] },
  packages: [
    {
      SPDXID: "SPDXRef-Package-zlib",
      name: "zlib",
      versionInfo: "1.3",
      downloadLocation: "https://zlib.net",
      licenseDeclared: "Zlib AND LicenseRef-own",
      unknown: 1,
      checksums: [{ algorithm: "SHA256", checksumValue: "AB".repeat(32) }],
      externalRefs: [
        {
          referenceCategory: "PACKAGE-MANAGER",
          referenceType: "purl",
          referenceLocator: "pkg:generic/zlib@1.3",
        },
        {
          referenceCategory: "SECURITY",
          referenceType: "cpe23Type",
          referenceLocator: "cpe:2.3:a:zlib:zlib:1.3:*:*:*:*:*:*:*",
        },
      ],
      hasFiles: ["SPDXRef-File-a"],
    },
    { SPDXID: "SPDXRef-Package_odd", name: "odd", downloadLocation: "NONE", supplier: 7 },
  ],
  files: [
    {
      SPDXID: "SPDXRef-File-a",
      fileName: "./a",
      checksums: [{ algorithm: "SHA1", checksumValue: "ab".repeat(20) }],
      licenseInfoInFiles: ["LicenseRef-own"],
    },
  ],
  hasExtractedLicensingInfos: [{ licenseId: "LicenseRef-own", extractedText: "do what you like" }],
  relationships: [
    {
      spdxElementId: "SPDXRef-DOCUMENT",
      relationshipType: "DESCRIBES",
      relatedSpdxElement: "SPDXRef-Package-zlib",
    },
    {
      spdxElementId: "SPDXRef-Package-zlib",
      relationshipType: "DEPENDS_ON",
      relatedSpdxElement: "SPDXRef-Package_odd",
    },
    {
      spdxElementId: "SPDXRef-Package-zlib",
      relationshipType: "DEPENDS_ON",
      relatedSpdxElement: "DocumentRef-x:SPDXRef-y",
    },
    {
      spdxElementId: "SPDXRef-File-a",
      relationshipType: "GENERATED_FROM",
      relatedSpdxElement: "NOASSERTION",
    },
  ],
});

function part(name: string, documents: string[]): SbomPart {
  const digest = `sha256:${"ab".repeat(32)}`;
  return {
    ...{
      name,
      version: "1",
      author: "Somebody",
      description: "text",
      purpose: "INSTALL",
      comment: "made up",
    },
    purl: ociPurl({ repository: name, registry: "ghcr.io", digest, arch: "amd64", tag: "1" }),
    documents: documents.flatMap((text) => parseSpdx(text) ?? []),
  };
}

function merged(parts: SbomPart[]): SpdxDocument {
  const about = { version: "v1.13.0", arch: "amd64", comment: "c", created: "2019-06-01T21:34:52Z" };
  return nameSpdx(mergeSpdx(about, parts), "f".repeat(64), "https://factory.test/spdx/x");
}

describe("merging", () => {
  const document = merged([
    part("siderolabs/a", [rich, rich]),
    part("siderolabs/b", [rich]),
    part("siderolabs/c", []),
  ]);
  const ids = [...document.packages, ...document.files].map((one) => one.SPDXID);

  it("gives valid SPDX 2.3, also from sources with fields of their own", async () => {
    checkSpdx(document);
    expect(isSpdx({ ...document, madeUp: true })).toBe(false);
    expect(await cyclonedx.validate('{"bomFormat":"CycloneDX"}')).not.toBeNull();
  });

  it("takes documents with more entries than a call may have arguments", () => {
    const id = "SPDXRef-Package-zlib";
    const relationship = { spdxElementId: id, relationshipType: "OTHER", relatedSpdxElement: id };
    const relationships = Array.from({ length: 200_000 }, () => relationship);
    const large = JSON.stringify({ ...JSON.parse(rich), relationships });
    expect(merged([part("siderolabs/a", [large])]).relationships.length).toBeGreaterThan(200_000);
  });

  it("keeps equal names of different sources apart, licences too", () => {
    expect(ids).toHaveLength(new Set(ids).size);
    expect(ids.filter((id) => id.endsWith("Package-zlib"))).toHaveLength(3);
    expect(document.hasExtractedLicensingInfos.map((one) => one.licenseId)).toEqual([
      "LicenseRef-1-1-own",
      "LicenseRef-1-2-own",
      "LicenseRef-2-1-own",
    ]);
    const zlib = document.packages.find((one) => one.SPDXID === "SPDXRef-1-2-Package-zlib");
    expect(zlib).toMatchObject({
      licenseDeclared: "Zlib AND LicenseRef-1-2-own",
      hasFiles: ["SPDXRef-1-2-File-a"],
    });
  });

  it("names no element that is not there", () => {
    const known = new Set([...ids, "SPDXRef-DOCUMENT", "NOASSERTION", "NONE"]);
    for (const { spdxElementId, relatedSpdxElement } of document.relationships)
      expect([known.has(spdxElementId), known.has(relatedSpdxElement)]).toEqual([true, true]);
  });

  it("reaches everything described from the root", () => {
    const contains = (from: string) =>
      document.relationships
        .filter((one) => one.spdxElementId === from && one.relationshipType === "CONTAINS")
        .map((one) => one.relatedSpdxElement);
    expect(contains("SPDXRef-Image")).toEqual(["SPDXRef-Source-1", "SPDXRef-Source-2", "SPDXRef-Source-3"]);
    expect(contains("SPDXRef-Source-1")).toEqual(["SPDXRef-1-1-Package-zlib", "SPDXRef-1-2-Package-zlib"]);
  });

  it("gives valid CycloneDX 1.6 with licences, hashes and dependencies", async () => {
    const json = toCycloneDx(document, "0db1c9a8-9fad-8f63-9e04-901e16c10438");
    expect(await cyclonedx.validate(JSON.stringify(json))).toBeNull();
    expect(json).toMatchObject({ metadata: { component: { name: `talos-${"f".repeat(64)}` } } });
    const text = JSON.stringify(json);
    expect(text).toContain('"cpe":"cpe:2.3:a:zlib:zlib:1.3:*:*:*:*:*:*:*"');
    expect(text).toContain(`{"alg":"SHA-256","content":"${"ab".repeat(32)}"}`);
    expect(text).toContain('"licenses":[{"expression":"Zlib AND LicenseRef-1-1-own"}]');
    expect(text).toContain('{"ref":"SPDXRef-1-1-Package-zlib","dependsOn":["SPDXRef-1-1-Package-odd"]}');
  });

  it.each(["", "{}", "[]", '{"spdxVersion":"SPDX-3.0"}', '{"spdxVersion":"SPDX-2.3","packages":{}}'])(
    "takes %j for no document",
    (text) => expect(parseSpdx(text)).toBeNull(),
  );
});

describe("the service", () => {
  const A = "a".repeat(64);
  const B = "b".repeat(64);
  const C = "c".repeat(64);
  const names = (list: string[]): Schematic => ({
    customization: { systemExtensions: { officialExtensions: list.map((name) => `siderolabs/${name}`) } },
  });
  const posted: Record<string, Schematic> = {
    [A]: names(["i915", "qemu-guest-agent"]),
    [B]: {
      customization: { ...names(["qemu-guest-agent", "i915"]).customization, extraKernelArgs: ["x=1"] },
    },
    [C]: names(["drbd"]),
  };
  const reads: string[] = [];
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "sboms-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  function service() {
    const unused = () => Promise.reject(new Error("not part of this test"));
    const schematics: SchematicService = {
      create: unused,
      find: async (id) => {
        const schematic = posted[id];
        return schematic ? { id, canonical: "", schematic } : null;
      },
    };
    const releases: Pick<ReleaseService, "require"> = { require: async (version) => fakeRelease(version) };
    const texts = (repository: string): SourceTexts => ({
      documents:
        repository === "siderolabs/imager"
          ? [{ path: "usr/install/amd64/talos.spdx.json", text: rich }]
          : repository === "siderolabs/drbd"
            ? [{ path: "rootfs/usr/local/share/spdx/drbd.spdx.json", text: "{ damaged" }]
            : [],
      manifest: "version: v1alpha1\nmetadata:\n  name: x\n  version: 2.0\n  author: Maker\n",
    });
    return createSbomService({
      schematics,
      releases: releases as ReleaseService,
      sources: {
        read: async ({ repository }) => {
          reads.push(repository);
          return texts(repository);
        },
      },
      store: new DirectoryStore(dir),
      externalUrl: "https://factory.test",
      publicName: "ghcr.io",
    });
  }

  const get = async (schematicId: string, format: "spdx" | "cyclonedx" = "spdx", from = service()) => {
    const document = await from.document({ schematicId, version: "1.13.0", arch: "amd64", format });
    return Buffer.from(document.bytes).toString();
  };

  it("gives valid documents that carry the schematic's name", async () => {
    const document = JSON.parse(await get(A));
    checkSpdx(document);
    expect(document).toMatchObject({ spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0" });
    expect(document.name).toContain(`talos-${A}`);
    expect(document.documentNamespace).toContain(`https://factory.test/spdx/${A}/`);
    expect(await cyclonedx.validate(await get(A, "cyclonedx"))).toBeNull();
  });

  it("shares the work between schematics with equal extensions, and no ID", async () => {
    reads.length = 0;
    const [a, b] = [await get(A), await get(B)];
    expect(reads).toEqual([]);
    expect(b).not.toContain(A);
    expect(a.replaceAll(A, B)).toBe(b);
  });

  it("gives other contents for other extensions", async () => {
    reads.length = 0;
    const c = await get(C);
    expect(reads).toEqual(["siderolabs/imager", "siderolabs/drbd"]);
    expect(c).not.toContain("qemu-guest-agent");
    expect(await get(A)).not.toContain("siderolabs/drbd");
  });

  it("says where each record comes from", async () => {
    const comment = async (id: string, name: string) =>
      JSON.parse(await get(id)).packages.find((one: { name: string }) => one.name === name).comment;
    expect(await comment(A, "siderolabs/imager")).toBe(
      "Contents as listed by the image itself in usr/install/amd64/talos.spdx.json.",
    );
    expect(await comment(A, "siderolabs/i915")).toBe(
      "The source has no bill of materials for this image; this record is made from its manifest.",
    );
    expect(await comment(C, "siderolabs/drbd")).toBe(
      "Not an SPDX 2 document and left out: rootfs/usr/local/share/spdx/drbd.spdx.json.",
    );
  });

  it("refuses in the order and words of the public service", async () => {
    const refusal = (schematicId: string, version: string, arch: string) =>
      service()
        .document({ schematicId, version, arch, format: "spdx" }, { minimum: "1.11.0" })
        .then(
          () => "served",
          (error: Error) => error.message,
        );
    expect(await refusal("0".repeat(64), "banana", "mips")).toContain("not found");
    expect(await refusal(A, "banana", "mips")).toBe('invalid version format: "vbanana"');
    expect(await refusal(A, "1.10.9", "mips")).toBe(
      "SPDX bundles are only available for Talos versions 1.11.0 and later",
    );
    expect(await refusal(A, "v1.11.0-rc.0", "mips")).toContain("only available");
    expect(await refusal(A, "v1.11.0", "mips")).toBe('invalid architecture: "mips"');
    expect(await refusal(A, "v1.11.0", "arm64")).toBe("served");
  });
});
