/** Every answer that differs from the recording on purpose; each row stands in docs/compat.md under its number. */
import type { RawReply } from "../fixtures/raw-http.ts";

export interface Difference {
  /** Number of the row in docs/compat.md. */
  row: string;
  /** Which entries ("errors 27") it explains. */
  entries: string[];
  /** Our status; the recorded one when absent. */
  status?: number;
  /** What our body must look like; when absent it is compared with the recording. */
  body?: RegExp;
  /** Headers that differ, by lower-case name; null: ours is absent. */
  headers?: Record<string, RegExp | null>;
}

const errors = (...numbers: (number | [number, number])[]): string[] => named("errors", numbers);
const http = (...numbers: (number | [number, number])[]): string[] => named("http", numbers);

function named(file: string, numbers: (number | [number, number])[]): string[] {
  return numbers.flatMap((number) => {
    const [from, to] = typeof number === "number" ? [number, number] : number;
    return Array.from({ length: to - from + 1 }, (_, i) => `${file} ${from + i}`);
  });
}

const REFUSED = { "content-type": /^text\/plain; charset=utf-8$/, "x-content-type-options": /^nosniff$/ };
const NOT_FOUND = { ...REFUSED, location: null };
const OCI_ERROR = {
  "content-type": /^application\/json$/,
  "x-content-type-options": /^nosniff$/,
  "docker-distribution-api-version": /^registry\/2\.0$/,
};
const oci = (code: string, message: string) =>
  new RegExp(`^\\{"errors":\\[\\{"code":"${code}","message":"${message}`);

const VERSIONS: Difference[] = [
  {
    row: "R1",
    entries: errors([27, 30], 32, 33, 36, [85, 94], 97, 98, 103, 127, 204),
    status: 400,
    body: /^version "[^"]+" is not a version number\n$/,
  },
  { row: "R2", entries: errors(37, 99, 100), status: 400, body: /carries build metadata/ },
  {
    row: "R3",
    entries: errors(64, 114, 115, 119),
    status: 400,
    body: /^platform "nosuch" is not known\n$/,
  },
  {
    row: "R4",
    entries: errors(59, 60),
    status: 400,
    body: /^error parsing profile from path: invalid profile path: "(iso|installer)-amd64.raw"\n$/,
  },
  { row: "R5", entries: errors(108), body: /official overlay "nope" is not available/ },
  { row: "R6", entries: errors(113), status: 400, body: /diskImage.sectorSize 777 is not supported\n$/ },
  { row: "R15", entries: http(53, 54, 55), headers: { "content-type": /^application\/octet-stream$/ } },
];

const ROUTES: Difference[] = [
  {
    row: "H1",
    entries: errors(43, 44),
    status: 200,
    body: /^([0-9a-f]{64}){1,2} {2}metal-amd64\.iso\n$/,
    headers: {
      "content-disposition": /^attachment; filename="metal-amd64\.iso\.sha(256|512)"$/,
      "x-content-type-options": null,
    },
  },
  { row: "H1", entries: errors(104), status: 404, body: /^schematic ID "a{64}" not found\n$/ },
  { row: "H3", entries: errors(73, 122), status: 404, body: /^404 page not found\n$/, headers: NOT_FOUND },
  { row: "H4", entries: errors(156), body: /the text is not valid UTF-8\n$/ },
  { row: "H5", entries: errors(169), status: 413, body: /larger than 1048576 bytes\n$/, headers: REFUSED },
  { row: "H6", entries: errors(205), status: 404, body: /^"nope" is not a file of talosctl v1\.13\.2\n$/ },
  { row: "H6", entries: errors(209), status: 404 },
  {
    row: "H7",
    entries: errors(212),
    status: 404,
    body: /is not a file of talosctl/,
    headers: NOT_FOUND,
  },
  { row: "H8", entries: [...errors(236), ...http(15)], body: /^\[\]\n$/ },
  { row: "H9", entries: errors(240), body: /^404 page not found\n$/ },
  { row: "H10", entries: errors(242), headers: { vary: /^Origin$/ } },
  {
    row: "H11",
    entries: errors(243),
    status: 400,
    body: /^this is not a valid HTTP request\n$/,
    headers: { allow: null, vary: null },
  },
  { row: "H12", entries: http(56, 57), status: 206, headers: { "content-range": /^bytes 0-99\/\d+$/ } },
  { row: "H12", entries: http(58), status: 304 },
  {
    row: "H13",
    entries: http(63),
    headers: { "content-disposition": /^attachment; filename="cus_tom__\.bin"$/ },
  },
  { row: "H14", entries: http(24, 28), headers: { "content-type": /^application\/octet-stream$/ } },
  { row: "H15", entries: errors(218), status: 404, body: /^404 page not found\n$/, headers: { allow: null } },
  { row: "H15", entries: errors(219), status: 404, headers: { allow: null } },
  { row: "H15", entries: errors(220, 222, 223), status: 404, body: /./, headers: NOT_FOUND },
  {
    row: "H2",
    entries: errors(45),
    status: 200,
    body: /^\{"mediaType":"application\/vnd\.dev\.sigstore\.bundle/,
    headers: {
      "content-type": /^application\/vnd\.dev\.sigstore\.bundle\.v0\.3\+json$/,
      "content-disposition": /^attachment; filename="metal-amd64\.iso\.sigstore\.json"$/,
      "x-content-type-options": null,
    },
  },
  {
    row: "H16",
    entries: errors(226),
    status: 200,
    body: /"spdxVersion": ?"SPDX-2\.3"/,
    headers: {
      "content-type": /^application\/spdx\+json$/,
      "content-disposition": /^attachment; filename="[0-9a-f]{64}-v1\.13\.2-amd64\.spdx\.json"$/,
      vary: /^Origin, Accept$/,
      "x-content-type-options": null,
    },
  },
  { row: "H17", entries: http(67), headers: { vary: /^Origin$/, "x-content-type-options": /^nosniff$/ } },
];

const REGISTRY: Difference[] = [
  {
    row: "H20",
    entries: [...errors(190), ...http(2, 3, 7, 8, 79, 88)],
    headers: { "docker-distribution-api-version": /^registry\/2\.0$/ },
  },
  {
    row: "H21",
    entries: errors(173, 174, 182, 193, 194, 195),
    headers: OCI_ERROR,
    body: oci("NAME_UNKNOWN", "unknown registry path"),
  },
  { row: "H21", entries: errors(176), headers: OCI_ERROR, body: oci("NAME_INVALID", "invalid image: nope") },
  {
    row: "H21",
    entries: errors(177, 199),
    headers: OCI_ERROR,
    body: oci("NAME_UNKNOWN", 'schematic ID \\\\"a{64}\\\\" not found'),
  },
  { row: "H21", entries: errors(200), headers: OCI_ERROR },
  {
    row: "H21",
    entries: errors(178),
    headers: OCI_ERROR,
    body: oci(
      "MANIFEST_UNKNOWN",
      "error enhancing profile from schematic: failed to get base installer: version",
    ),
  },
  {
    row: "H21",
    entries: errors(179, 181, 196),
    headers: OCI_ERROR,
    body: oci("MANIFEST_UNKNOWN", "manifest unknown"),
  },
  {
    row: "H22",
    entries: errors(180),
    status: 404,
    headers: OCI_ERROR,
    body: oci("MANIFEST_UNKNOWN", "manifest unknown"),
  },
  {
    row: "H21",
    entries: errors(187, 198),
    headers: OCI_ERROR,
    body: oci("BLOB_UNKNOWN", "blob unknown to registry"),
  },
  { row: "H21", entries: errors(188), headers: OCI_ERROR },
  {
    row: "H21",
    entries: errors(189),
    headers: OCI_ERROR,
    body: oci("DIGEST_INVALID", "invalid referrers subject digest: nope"),
  },
  { row: "H21", entries: errors(191), headers: OCI_ERROR, body: oci("MANIFEST_UNKNOWN", "manifest unknown") },
  { row: "H21", entries: errors(192), headers: OCI_ERROR, body: oci("NAME_UNKNOWN", "unknown image: nope") },
  {
    row: "H21",
    entries: errors(197),
    headers: OCI_ERROR,
    body: oci("UNSUPPORTED", "error enhancing profile from schematic: official extension"),
  },
  {
    row: "H23",
    entries: errors(175),
    status: 200,
    headers: {
      "content-type": /^application\/json$/,
      "x-content-type-options": null,
      "docker-distribution-api-version": /./,
    },
    body: /^\{"name":"installer\/[0-9a-f]{64}","tags":\[.*\]\}\n$/,
  },
  { row: "H24", entries: http([83, 86], 89, [92, 106]), headers: { vary: /^Origin, Accept$/ } },
  {
    row: "H25",
    entries: http(107),
    headers: { "content-type": /^application\/json$/ },
    body: /^\{"name":"siderolabs\/imager","tags":\["v1\.10\.7",.*"v1\.9\.5"\]\}\n$/,
  },
];

const SIGNED: Difference[] = [
  {
    row: "H26",
    entries: http(88),
    body: /^\{"schemaVersion":2,"mediaType":"application\/vnd\.oci\.image\.index\.v1\+json","manifests":\[\{/,
  },
];

export const DIFFERENCES: Difference[] = [...VERSIONS, ...ROUTES, ...REGISTRY, ...SIGNED];

/** Entries that are not compared, each with the reason, which the test prints. */
export const LEFT_OUT: Record<string, string> = {
  "http 4": "the first page; tests/e2e looks at it",
  "http 9": "the first page; tests/e2e looks at it",
  "errors 224": "an icon, part of the pages; tests/e2e looks at them",
};

/** Bodies that hold data of the recorded registry or of its keys: only the names of their members are compared. */
export const OTHER_DATA = new Set(["http 17", "http 18", "http 19", "http 20", "http 89", "http 105"]);

/** What does not fit the row, one line each. */
export function misfits({ status, body, headers = {} }: Difference, reply: RawReply): string[] {
  const out: string[] = [];
  if (status !== undefined && reply.status !== status)
    out.push(`status ${reply.status} instead of ${status}`);
  if (body && !body.test(reply.body.toString())) out.push(`body ${reply.body.toString().slice(0, 200)}`);
  for (const [name, want] of Object.entries(headers)) {
    const have = reply.headers[name];
    const fits = want === null ? have === undefined : have !== undefined && want.test(have);
    if (!fits) out.push(`${name}: ${have}`);
  }
  return out;
}
