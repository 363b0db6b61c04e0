/**
 * Proves that the factory answers as the public service did: every recorded request is sent again, byte for byte, and
 * status, headers and small bodies are compared. What differs on purpose is in compat-differences.ts and docs/compat.md.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIFFERENCES, LEFT_OUT, misfits, OTHER_DATA } from "../fixtures/compat-differences.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { exchange, type RawReply } from "../fixtures/raw-http.ts";
import {
  differences,
  type RecordedEntry,
  type Replacements,
  recordedEntries,
  recordedSchematics,
  replay,
} from "../fixtures/recorded-answers.ts";

/** Texts whose IDs the recording uses; the text of {EMBEDDED} is not known, so ours stands for it. */
const SCHEMATICS: Record<string, string> = {
  "{EMPTY}": "customization: {}\n",
  "{UNKNOWN_EXTENSION}": "customization: {systemExtensions: {officialExtensions: [siderolabs/nope]}}\n",
  "{SHORT_NAME}": "customization: {systemExtensions: {officialExtensions: [qemu-guest-agent]}}\n",
  "{UNKNOWN_OVERLAY}": "overlay: {name: nope, image: siderolabs/nope}\n",
  "{BAD_ENROLL}": "customization: {secureboot: {enrollKeys: sometimes}}\n",
  "{EMBEDDED}": "customization: {embeddedMachineConfiguration: x}\n",
  "{SECTOR777}": "customization: {diskImage: {sectorSize: 777}}\n",
};

const EXTERNAL = "http://factory.test";

let factory: TestFactory;
let replacements: Replacements;

beforeAll(async () => {
  factory = await startTestFactory({ environment: { EXTERNAL_URL: EXTERNAL, EXTERNAL_PXE_URL: EXTERNAL } });
  const schematics: Record<string, string> = {};
  for (const [token, text] of Object.entries(SCHEMATICS)) schematics[token] = await factory.schematic(text);
  const recorded = recordedSchematics();
  for (const [token, id] of Object.entries(schematics))
    if (token !== "{EMBEDDED}") expect(id, token).toBe(recorded[token]);
  replacements = { base: factory.url, external: EXTERNAL, schematics };
  await factory.fetch(`/image/${schematics["{EMPTY}"]}/v1.13.2/metal-amd64.iso`);
}, 300_000);

afterAll(() => factory?.stop());

const CHUNK = 32;
const entries = recordedEntries();
const chunks = Array.from({ length: Math.ceil(entries.length / CHUNK) }, (_, i) =>
  entries.slice(i * CHUNK, (i + 1) * CHUNK),
);

test.each(chunks.map((chunk) => [chunk[0]?.name, chunk.at(-1)?.name, chunk] as const))(
  "answers like the recording: %s to %s",
  async (_first, _last, chunk) => {
    const wrong: string[] = [];
    for (const entry of chunk) {
      const reason = LEFT_OUT[entry.name];
      if (reason === undefined) wrong.push(...(await judge(entry)));
      else console.log(`not compared: ${entry.name} ${entry.method} ${entry.path}: ${reason}`);
    }
    expect(wrong).toEqual([]);
  },
);

test("every deliberate difference stands in docs/compat.md and is met", () => {
  const page = readFileSync(new URL("../../docs/compat.md", import.meta.url), "utf8");
  const known = new Set(entries.map((entry) => entry.name));
  for (const { row, entries: names } of DIFFERENCES) {
    expect(page, row).toContain(`| ${row} |`);
    for (const name of names) expect(known, row).toContain(name);
  }
  expect(entries).toHaveLength(352);
});

async function judge(entry: RecordedEntry): Promise<string[]> {
  const reply = await replay(entry, replacements, await digestFor(entry));
  const found = differences(entry, reply, replacements);
  const told = (lines: Iterable<string>) =>
    [...lines].map((line) => `${entry.name} ${entry.method} ${entry.path.slice(0, 100)}: ${line}`);
  if (reply === null) return told(found.values());
  if (OTHER_DATA.has(entry.name)) {
    found.delete("body");
    const have = membersOf(reply.body.toString());
    const missing = [...membersOf(entry.body ?? "")].filter((member) => !have.has(member));
    if (missing.length > 0) found.set("body", `body without ${missing.join(", ")}`);
  }
  const unfit: string[] = identityProblems(entry, reply);
  for (const difference of DIFFERENCES.filter((one) => one.entries.includes(entry.name))) {
    unfit.push(...misfits(difference, reply));
    if (difference.status !== undefined) found.delete("status");
    if (difference.body) found.delete("body");
    for (const name of Object.keys(difference.headers ?? {})) found.delete(name);
  }
  return told([...unfit, ...found.values()]);
}

/** Server and X-Request-ID are on every reply of ours, but not on preflights and on what Node's parser refuses. */
function identityProblems(entry: RecordedEntry, reply: RawReply): string[] {
  const bare = reply.status === 204 || reply.status === 417 || entry.method === "BREW";
  const product = /^Image Factory \S/.test(reply.headers.server ?? "");
  const identified = /^[0-9a-f-]{36}$/.test(reply.headers["x-request-id"] ?? "");
  return product === !bare && identified === !bare ? [] : [`server ${reply.headers.server}`];
}

/** Names of all members at any depth. */
const membersOf = (json: string): Set<string> =>
  new Set([...json.matchAll(/"([^"]+)":/g)].map((match) => match[1] ?? ""));

/** What "{DIGEST}" in the path of the entry stands for here. */
async function digestFor({ path }: RecordedEntry): Promise<string> {
  if (!path.includes("{DIGEST}")) return "";
  const repository = `/v2/installer/${replacements.schematics["{EMPTY}"]}`;
  const get = async (target: string) => {
    const reply = await exchange(factory.url, { method: "GET", target }, { timeoutMs: 120_000 });
    if (reply?.status !== 200)
      throw new Error(`${target}: ${reply?.status} ${reply?.body.toString().slice(0, 200)}`);
    return reply;
  };
  const index = await get(`${repository}/manifests/v1.13.2`);
  const indexDigest = (index.headers["docker-content-digest"] ?? "").slice("sha256:".length);
  if (!path.includes("/blobs/")) return indexDigest;
  const { manifests }: { manifests: { digest: string }[] } = JSON.parse(index.body.toString());
  const manifest = await get(`${repository}/manifests/${manifests[0]?.digest}`);
  const { layers }: { layers: { digest: string }[] } = JSON.parse(manifest.body.toString());
  return (layers[0]?.digest ?? "").slice("sha256:".length);
}
