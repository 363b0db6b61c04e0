/** The parts of an SPDX 2.3 document that are read and written here (https://spdx.github.io/spdx-spec/v2.3/). */
import { z } from "zod";

const text = z.string();
const checksum = z.object({ algorithm: text, checksumValue: text });
const texts = z.array(text);
/** A field that is not what the standard says is left out rather than making a whole document worthless. */
const maybe = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

const annotation = z.object({
  annotationDate: text,
  annotationType: z.enum(["OTHER", "REVIEW"]),
  annotator: text,
  comment: text,
});

export const PURPOSES = [
  "APPLICATION",
  "ARCHIVE",
  "CONTAINER",
  "DEVICE",
  "FILE",
  "FIRMWARE",
  "FRAMEWORK",
  "INSTALL",
  "LIBRARY",
  "OPERATING_SYSTEM",
  "OTHER",
  "SOURCE",
] as const;

const CATEGORIES = [
  "OTHER",
  "PACKAGE-MANAGER",
  "PACKAGE_MANAGER",
  "PERSISTENT-ID",
  "PERSISTENT_ID",
  "SECURITY",
] as const;

const packageSchema = z.object({
  SPDXID: text,
  name: text,
  versionInfo: maybe(text),
  packageFileName: maybe(text),
  supplier: maybe(text),
  originator: maybe(text),
  downloadLocation: text.catch("NOASSERTION"),
  filesAnalyzed: maybe(z.boolean()),
  packageVerificationCode: maybe(
    z.object({ packageVerificationCodeValue: text, packageVerificationCodeExcludedFiles: texts.optional() }),
  ),
  checksums: maybe(z.array(checksum)),
  homepage: maybe(text),
  sourceInfo: maybe(text),
  licenseConcluded: maybe(text),
  licenseDeclared: maybe(text),
  licenseInfoFromFiles: maybe(texts),
  licenseComments: maybe(text),
  copyrightText: maybe(text),
  summary: maybe(text),
  description: maybe(text),
  comment: maybe(text),
  externalRefs: maybe(
    z.array(
      z.object({
        referenceCategory: z.enum(CATEGORIES),
        referenceType: text,
        referenceLocator: text,
        comment: text.optional(),
      }),
    ),
  ),
  attributionTexts: maybe(texts),
  primaryPackagePurpose: maybe(z.enum(PURPOSES)),
  releaseDate: maybe(text),
  builtDate: maybe(text),
  validUntilDate: maybe(text),
  annotations: maybe(z.array(annotation)),
  hasFiles: maybe(texts),
});

const fileSchema = z.object({
  SPDXID: text,
  fileName: text,
  checksums: z.array(checksum).min(1),
  fileTypes: maybe(texts),
  licenseConcluded: maybe(text),
  licenseInfoInFiles: maybe(texts),
  licenseComments: maybe(text),
  copyrightText: maybe(text),
  comment: maybe(text),
  noticeText: maybe(text),
  fileContributors: maybe(texts),
  attributionTexts: maybe(texts),
  annotations: maybe(z.array(annotation)),
});

const licenseSchema = z.object({
  licenseId: text,
  extractedText: text,
  name: maybe(text),
  comment: maybe(text),
  seeAlsos: maybe(texts),
});

const relationshipSchema = z.object({
  spdxElementId: text,
  relatedSpdxElement: text,
  relationshipType: text,
  comment: maybe(text),
});

const sourceSchema = z.object({
  spdxVersion: text.regex(/^SPDX-2\.\d+$/),
  packages: z.array(packageSchema).default([]),
  files: z.array(fileSchema).default([]),
  hasExtractedLicensingInfos: z.array(licenseSchema).default([]),
  relationships: z.array(relationshipSchema).default([]),
  documentDescribes: z.array(text).default([]),
});

export type SpdxPackage = z.infer<typeof packageSchema>;
export type SpdxFile = z.infer<typeof fileSchema>;
export type SpdxLicense = z.infer<typeof licenseSchema>;
export type SpdxRelationship = z.infer<typeof relationshipSchema>;
/** What a document holds besides its own name, maker and time. */
export type SpdxContents = z.infer<typeof sourceSchema>;

/** Reads an SPDX 2 document in JSON; null when it is none. Fields the standard does not know are left out. */
export function parseSpdx(source: string): SpdxContents | null {
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch {
    return null;
  }
  const parsed = sourceSchema.safeParse(json);
  return parsed.success ? parsed.data : null;
}
