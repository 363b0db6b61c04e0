/** Bad requests and what they must be told; the rows of tests/vectors/data/hostile-requests.json come on top. */

export interface BadRequest {
  title: string;
  /** Bytes of the whole request, for what is no HTTP; else method and target. */
  raw?: string;
  method?: string;
  target?: string;
  headers?: Record<string, string>;
  /** Characters stand for bytes. */
  body?: string;
  status: number;
  reply: RegExp;
}

export const EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
const NO_BUILD = "00000000-0000-4000-8000-000000000000";
const V = "v1.13.2";
const IMAGE = `/image/${EMPTY}/${V}`;
const UNKNOWN_ID = "a".repeat(64);
const NO_PAGE = /^404 page not found\n$/;
const NO_HTTP = /^this is not a valid HTTP request\n$/;

const get = (title: string, target: string, status: number, reply: RegExp): BadRequest => ({
  title,
  method: "GET",
  target,
  status,
  reply,
});
const post = (title: string, body: string, reply: RegExp, status = 400): BadRequest => ({
  title,
  method: "POST",
  target: "/schematics",
  body,
  status,
  reply,
});
const raw = (title: string, bytes: string, status: number, reply: RegExp): BadRequest => ({
  title,
  raw: bytes,
  status,
  reply,
});
const host = "Host: factory.test\r\n";
const close = "Connection: close\r\n";

const SCHEMATICS: BadRequest[] = [
  post(
    "a body above 1 MiB",
    `customization: {extraKernelArgs: [${"a".repeat(1_100_000)}]}`,
    /larger than 1048576 bytes/,
    413,
  ),
  post(
    "a binary tag that is not base64",
    "customization: {extraKernelArgs: [!!binary '***']}",
    /invalid base64 data\n$/,
  ),
  post("a merge key with a scalar", "customization: {<<: 5}", /^(yaml|go-yaml)/),
  post("an owner", "owner: me\n", /^owner field is only supported/),
  post(
    "a META key above 255",
    "customization: {meta: [{key: 256, value: x}]}",
    /cannot construct !!int `256` into uint8\n$/,
  ),
  post("a META key below 0", "customization: {meta: [{key: -1, value: x}]}", /`-1` into uint8\n$/),
  post("a list where a mapping belongs", "customization: []", /cannot construct !!seq/),
  post(
    "an unknown boot loader",
    "customization: {bootloader: lilo}",
    /lilo does not belong to BootloaderKind values\n$/,
  ),
  post("a tab for indentation", "customization:\n\textraKernelArgs: []\n", /^go-yaml load error in scanner/),
  post("an undefined alias", "customization: *nobody\n", /unknown anchor 'nobody' referenced\n$/),
  post("JSON without its last brace", '{"customization":{}', /^go-yaml load error/),
  post("HTML", "<!doctype html><p>hello", /into schematic\.Schematic\n$/),
  post("a form", "customization=1&x=2", /into schematic\.Schematic\n$/),
  post("fields of a prototype", '{"constructor":{"prototype":{}}}', /field constructor not found/),
  post(
    "an unknown field deep inside",
    "customization: {systemExtensions: {extensions: []}}",
    /field extensions not found/,
  ),
  post("UTF-16 without a mark", "c\0u\0s\0t\0o\0m\0", /^go-yaml load error in reader/),
  post("a byte order mark in the middle", "customization: {}\n\u00ef\u00bb\u00bf: 1\n", /./),
  post("a million spaces", " ".repeat(1_000_000), /^EOF\n$/),
  post("a timestamp for a text", "customization: {extraKernelArgs: [2024-01-02]}", /!!timestamp/),
  {
    ...post("a compressed body", "\u001f\u008b\u0008\u0000", /./),
    headers: { "Content-Encoding": "gzip" },
  },
  { ...post("an expectation nobody meets", "{}", /^$/, 417), headers: { Expect: "wonders" } },
];

const ASSETS: BadRequest[] = [
  get(
    "an unknown schematic",
    `/image/${UNKNOWN_ID}/${V}/kernel-amd64`,
    404,
    /^schematic ID "a{64}" not found\n$/,
  ),
  get("an ID in capitals", `/image/${EMPTY.toUpperCase()}/${V}/kernel-amd64`, 404, /not found\n$/),
  get("an ID with SQL", `/image/'%3bdrop%20table%20schematic--/${V}/kernel-amd64`, 404, /not found\n$/),
  get(
    "an unknown version",
    `/image/${EMPTY}/v9.9.9/kernel-amd64`,
    404,
    /^failed to get kernel: version 9\.9\.9 is not available\n$/,
  ),
  get(
    "no version",
    `/image/${EMPTY}/latest/kernel-amd64`,
    400,
    /^version "latest" is not a version number\n$/,
  ),
  get("a version with build metadata", `/image/${EMPTY}/v1.13.2+x/kernel-amd64`, 400, /build metadata/),
  get("a version with a slash", `/image/${EMPTY}/v1.13.2%2f..%2fx/kernel-amd64`, 404, NO_PAGE),
  get("a negative version", `/image/${EMPTY}/v-1.0.0/kernel-amd64`, 400, /is not a version number\n$/),
  get("an unknown platform", `${IMAGE}/toaster-amd64.iso`, 400, /^platform "toaster" is not known\n$/),
  get("an unknown architecture", `${IMAGE}/metal-mips.iso`, 400, /invalid architecture: "mips"\n$/),
  get(
    "an unknown ending",
    `${IMAGE}/metal-amd64.floppy`,
    400,
    /invalid profile path: "metal-amd64\.floppy"\n$/,
  ),
  get("a shell in the name", `${IMAGE}/$(id)-amd64.iso`, 400, /^(error parsing profile|platform)/),
  get("a back quote in the name", `${IMAGE}/%60id%60-amd64.iso`, 400, /^(error parsing profile|platform)/),
  get("an emoji in the name", `${IMAGE}/%F0%9F%98%80-amd64.iso`, 400, /^(error parsing profile|platform)/),
  get(
    "a platform of 900 letters",
    `${IMAGE}/${"a".repeat(900)}-amd64.iso`,
    400,
    /^platform "a+" is not known\n$/,
  ),
  get("a name of 2,000 letters", `${IMAGE}/${"a".repeat(2_000)}`, 400, /longer than 1024 characters\n$/),
  get("a checksum of nothing", `${IMAGE}/.sha256`, 400, /^error parsing profile from path/),
  get("a checksum of an unknown file", `${IMAGE}/nope.sha512`, 400, /invalid profile path: "nope"\n$/),
  get("a prototype as name", `${IMAGE}/__proto__`, 400, /invalid profile path: "__proto__"\n$/),
  get(
    "a platform called constructor",
    `${IMAGE}/constructor-amd64.iso`,
    400,
    /^platform "constructor" is not known\n$/,
  ),
  get("a platform called toString", `/pxe/${EMPTY}/${V}/toString-amd64`, 400, /./),
  get(
    "a PXE script of an ISO",
    `/pxe/${EMPTY}/${V}/metal-amd64.iso`,
    400,
    /invalid architecture: "amd64\.iso"\n$/,
  ),
  get("a PXE script of nothing", `/pxe/${EMPTY}/${V}/%20`, 400, /^error parsing profile from path/),
  { ...get("a post to a file", `${IMAGE}/kernel-amd64`, 405, /^Method Not Allowed\n$/), method: "POST" },
  { ...get("deleting a schematic", `/schematics/${EMPTY}`, 405, /^Method Not Allowed\n$/), method: "DELETE" },
  {
    ...get("a range beyond the end", `${IMAGE}/cmdline-metal-amd64`, 416, /^$/),
    headers: { Range: "bytes=99999999-" },
  },
  {
    ...get("a condition that fails", `${IMAGE}/cmdline-metal-amd64`, 412, /^$/),
    headers: { "If-Match": '"nothing"' },
  },
];

const OTHERS: BadRequest[] = [
  get("an unknown page", "/nope", 404, NO_PAGE),
  get("a file of the project", "/package.json", 404, NO_PAGE),
  get("the environment", "/.env", 404, NO_PAGE),
  get("a path with dots", "/../../../../etc/passwd", 404, NO_PAGE),
  get("a path with encoded dots", "/%2e%2e/%2e%2e/etc/passwd", 404, NO_PAGE),
  get(
    "extensions of an unknown version",
    "/version/v9.9.9/extensions/official",
    404,
    /^version 9\.9\.9 is not available\n$/,
  ),
  get(
    "extensions of no version",
    "/version/x/extensions/official",
    400,
    /^version "x" is not a version number\n$/,
  ),
  get("a build that is none", `/api/v1/builds/${NO_BUILD}`, 404, /"code":"not_found"/),
  get("a build by a word", "/api/v1/builds/nope", 400, /id: Invalid UUID/),
  get("events of a build that is none", `/api/v1/builds/${NO_BUILD}/events`, 404, /"code":"not_found"/),
  get("builds with a limit of letters", "/api/v1/builds?limit=many", 400, /"code":"invalid_input"/),
  get("builds with a negative limit", "/api/v1/builds?limit=-5", 400, /"code":"invalid_input"/),
  {
    ...get("cancelling a build that is none", `/api/v1/builds/${NO_BUILD}/cancel`, 404, /"code":"not_found"/),
    method: "POST",
  },
  get("a plan of an unknown schematic", `/api/v1/plan/${UNKNOWN_ID}/${V}/metal-amd64.iso`, 404, /./),
  get("talosctl of another world", `/talosctl/${V}/talosctl-plan9-amd64`, 404, /is not a file of talosctl/),
  get(
    "a manifest of an unknown image",
    `/v2/uninstaller/${EMPTY}/manifests/${V}`,
    400,
    /"code":"NAME_INVALID"/,
  ),
  get("a blob by name", `/v2/installer/${EMPTY}/blobs/latest`, 404, /"errors":\[/),
  { ...get("a push", `/v2/installer/${EMPTY}/manifests/${V}`, 405, /^Method Not Allowed\n$/), method: "PUT" },
];

const SOCKETS: BadRequest[] = [
  raw("a negative length", `POST /schematics HTTP/1.1\r\n${host}Content-Length: -5\r\n\r\n`, 400, NO_HTTP),
  raw("a length of letters", `POST /schematics HTTP/1.1\r\n${host}Content-Length: ten\r\n\r\n`, 400, NO_HTTP),
  raw(
    "two lengths",
    `POST /schematics HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    400,
    NO_HTTP,
  ),
  raw(
    "a length and chunks",
    `POST /schematics HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n`,
    400,
    NO_HTTP,
  ),
  raw(
    "an encoding nobody knows",
    `POST /schematics HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    400,
    NO_HTTP,
  ),
  raw(
    "a chunk of a wrong size",
    `POST /schematics HTTP/1.1\r\n${host}${close}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    400,
    /./,
  ),
  raw("no host", `GET /versions HTTP/1.1\r\n${close}\r\n`, 400, /^$/),
  raw(
    "two hosts",
    `GET /versions HTTP/1.1\r\n${host}Host: other.test\r\n${close}\r\n`,
    400,
    /more than one Host header\n$/,
  ),
  raw("a folded header", `GET /versions HTTP/1.1\r\n${host}X-A: b\r\n c: d\r\n\r\n`, 400, NO_HTTP),
  raw("a space before the colon", `GET /versions HTTP/1.1\r\n${host}X-A : b\r\n\r\n`, 400, NO_HTTP),
  raw("a NUL in a header", `GET /versions HTTP/1.1\r\n${host}X-A: b\0c\r\n\r\n`, 400, NO_HTTP),
  raw("garbage for a request line", "\u0000\u0001\u0002 nonsense\r\n\r\n", 400, NO_HTTP),
  raw("TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", 400, NO_HTTP),
  raw("HTTP/0.9", "GET /versions\r\n\r\n", 400, /^$/),
  raw("HTTP/9.9", `GET /versions HTTP/9.9\r\n${host}\r\n`, 400, NO_HTTP),
  raw(
    "an address of another server",
    `GET http://evil.test/versions HTTP/1.1\r\n${host}${close}\r\n`,
    400,
    /must be a path, or an address with the host that the Host header names\n$/,
  ),
  raw(
    "a head of 100 KB",
    `GET /versions HTTP/1.1\r\n${host}X-Big: ${"a".repeat(100_000)}\r\n\r\n`,
    431,
    /larger than 16 KiB\n$/,
  ),
  raw(
    "5,000 headers",
    `GET /versions HTTP/1.1\r\n${host}${"X-A: b\r\n".repeat(5_000)}\r\n`,
    431,
    /larger than 16 KiB\n$/,
  ),
  raw(
    "an address of 200 KB",
    `GET /${"a".repeat(200_000)} HTTP/1.1\r\n${host}\r\n`,
    431,
    /larger than 16 KiB\n$/,
  ),
  raw("spaces in the address", `GET /a b c HTTP/1.1\r\n${host}\r\n`, 400, NO_HTTP),
];

export const BAD_REQUESTS: BadRequest[] = [...SCHEMATICS, ...ASSETS, ...OTHERS, ...SOCKETS];
