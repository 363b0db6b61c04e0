/** An extension of one's own from a folder to files: packed, sent by curl, listed, built, changed, and built from an old lock. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelLock } from "../../lib/domain/model-lock.ts";
import { schematicId } from "../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { parseSampleMarkers } from "../../scripts/boot/markers.ts";
import { CHAOS_PROGRAM, CHAOS_SERVICE, chaosMarker } from "../fixtures/chaos-extension.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { describeInitramfs } from "../fixtures/layout/initramfs.ts";
import { type Pin, packChaos, sendJson, uploadPin, withWarning } from "../fixtures/own-extensions.ts";
import { staticProgram } from "../fixtures/static-program.ts";

const execute = promisify(execFile);
const VERSION = "v1.13.2";
const NAME = "team/chaos-daemon";
const SCHEMATIC = `customization:
    systemExtensions:
        officialExtensions:
            - ${NAME}
`;

let factory: TestFactory;
let first: Pin;
let id: string;
/** Of the time when only the first version was there. */
let lock: ModelLock;

const get = (path: string) => fetch(factory.url + path);
const json = async (path: string) => (await get(path)).json();
const post = (path: string, body?: unknown) => sendJson(factory.url + path, body);
const uploadAddress = () => `${factory.url}/api/v1/extensions/${NAME}`;
const listed = async () =>
  (await json(`/version/${VERSION}/extensions/official`)).filter(
    ({ name }: { name: string }) => name === NAME,
  );

beforeAll(async () => {
  factory = await startTestFactory({
    sample: { tags: [VERSION] },
    environment: { OWN_EXTENSIONS: "everyone" },
  });
  const file = await packChaos(join(factory.dataDir, "made"), { version: "v1.0.0" });
  first = await uploadPin(file, uploadAddress());
  id = await factory.schematic(SCHEMATIC);
}, 420_000);
afterAll(() => factory?.stop());

describe("an uploaded extension", () => {
  test("is adopted at once when nothing speaks against it, and listed as any other", async () => {
    expect(first).toMatchObject({ state: "adopted", errors: 0, warnings: 0, tag: "v1.0.0" });
    expect(await listed()).toEqual([
      {
        name: NAME,
        ref: `${new URL(factory.url).host.replace("127.0.0.1", "localhost")}/own/${NAME}:v1.0.0`,
        digest: first.digest,
        author: "Platform team",
        description: "Makes faults on purpose, so that people learn what they do",
      },
    ]);
  });

  test("gives its schematic the ID that the text has everywhere", async () => {
    expect(id).toBe(schematicId(parseSchematic(SCHEMATIC)));
    // sha256sum of exactly this text: what any implementation of the format says.
    const text = `customization:\n    systemExtensions:\n        officialExtensions:\n            - ${NAME}\n`;
    const { stdout } = await execute("sh", ["-c", 'printf %s "$1" | sha256sum', "sh", text]);
    expect(stdout.split(" ")[0]).toBe(id);
    expect(await (await get(`/schematics/${id}`)).text()).toBe(text);
  });

  test("can be pulled out of our registry with the digest that is pinned", async () => {
    const target = `oci:${join(factory.dataDir, "pulled")}:x`;
    const from = `docker://${new URL(factory.url).host}/own/${NAME}`;
    const flags = ["copy", "--all", "--quiet", "--src-tls-verify=false"];
    await execute("skopeo", [...flags, `${from}@${first.digest}`, target]);
    const tags = await json(`/v2/own/${NAME}/tags/list`);
    expect(tags).toEqual({ name: `own/${NAME}`, tags: ["v1.0.0"] });
    const { headers } = await get(`/v2/own/${NAME}/manifests/v1.0.0`);
    expect([headers.get("docker-content-digest"), headers.get("x-content-type-options")]).toEqual([
      first.digest,
      "nosniff",
    ]);
  });

  test("arrives in the initramfs and names its digest in the lock", async () => {
    lock = await json(`/api/v1/models/${id}/${VERSION}/lock`);
    expect(lock.inputs.at(-1)).toMatchObject({
      ...{ kind: "extension", name: NAME, repository: `own/${NAME}`, digest: first.digest, source: "own" },
      ref: expect.stringMatching(new RegExp(`/own/${NAME}:v1\\.0\\.0@${first.digest}$`)),
    });
    const scratch = join(factory.dataDir, "unpacked");
    await mkdir(scratch);
    const initramfs = async (schematic: string) =>
      readFile(await factory.fetch(`/image/${schematic}/${VERSION}/initramfs-amd64.xz`));
    const [bytes, plain] = [
      await initramfs(id),
      await initramfs(await factory.schematic("customization: {}")),
    ];
    // Both begin with the release's own initramfs; then comes the compressed part that differs.
    const common = bytes.findIndex((byte, at) => byte !== plain[at]);
    const tail = Math.max(
      ...["28b52ffd", "fd377a585a00"].map((magic) => bytes.lastIndexOf(magic, common, "hex")),
    );
    const { segments } = describeInitramfs(bytes, bytes.subarray(0, tail), scratch);
    expect(segments.at(-1)?.["extensions.yaml"]).toContain("name: chaos-daemon");
    const files = Object.values(segments.at(-1)?.squashfs ?? {}).flatMap(({ list }) => list);
    const sizeOf = (path: string) => Number(files.find((line) => line.endsWith(` /${path}`))?.split(" ")[2]);
    expect(sizeOf(CHAOS_PROGRAM)).toBe(staticProgram("amd64", chaosMarker("v1.0.0")).length);
    expect(sizeOf(CHAOS_SERVICE)).toBeGreaterThan(100);
  });

  test("is named by digest in the label, bill of materials and provenance of an installer that skopeo pulls", async () => {
    const name = `${new URL(factory.url).host}/metal-installer/${id}`;
    const flags = ["--tls-verify=false", "--override-arch", "amd64", "--override-os", "linux"];
    const { stdout } = await execute("skopeo", [
      "inspect",
      "--no-tags",
      ...flags,
      `docker://${name}:${VERSION}`,
    ]);
    expect(JSON.parse(stdout).Labels["io.casthouse.source.extensions"]).toBe(`own/${NAME}@${first.digest}`);
    const sbom = await get(`/spdx/${id}/${VERSION}/amd64`);
    expect([sbom.status, (await sbom.text()).includes(first.digest.slice("sha256:".length))]).toEqual([
      200,
      true,
    ]);
    const repository = `/v2/metal-installer/${id}`;
    const index = (await get(`${repository}/manifests/${VERSION}`)).headers.get("docker-content-digest");
    const { manifests } = await json(`${repository}/referrers/${index}`);
    const bundles = manifests.filter((one: { artifactType: string }) => one.artifactType.endsWith("+json"));
    const plus = `?artifactType=${bundles[0].artifactType}`;
    expect((await json(`${repository}/referrers/${index}${plus}`)).manifests).toEqual(bundles);
    const statements = await Promise.all(
      manifests.map((one: { digest: string }) => statementOf(repository, one)),
    );
    expect(statements.join("\n")).toContain(first.digest.slice("sha256:".length));
  });

  test("boots when somebody asks for it, and the console says who its service is", async () => {
    const address = `/api/v1/extensions/pins/${first.id}/boot-test`;
    expect((await get(address)).status).toBe(404);
    const asked = await post(address);
    expect([asked.status, asked.body]).toEqual([
      202,
      expect.objectContaining({ state: "queued", digest: first.digest, version: VERSION }),
    ]);
    const again = await post(address);
    expect([again.status, again.body.detail]).toEqual([409, `A boot test of ${NAME} is under way`]);
    await expect
      .poll(async () => (await json(address)).finishedAt, { timeout: 300_000, interval: 500 })
      .not.toBe(null);
    const ended = await json(address);
    expect(ended, ended.log.slice(-2000)).toMatchObject({
      state: "passed",
      reason: null,
      ms: expect.any(Number),
    });
    const markers = parseSampleMarkers(ended.log);
    expect(markers.extensions.map(({ name, version }) => `${name} ${version}`)).toContain(
      "chaos-daemon v1.0.0",
    );
    expect(markers.services).toContainEqual({ name: "chaos-daemon", line: "chaos-daemon v1.0.0 is ready" });
    expect(markers.files.map(({ extension }) => extension)).toContain("chaos-daemon");
    expect(await readdir(join(factory.dataDir, "boot-scratch"))).toEqual([]);
  });
});

/** The statement that a referrer carries, decoded. */
async function statementOf(repository: string, { digest }: { digest: string }): Promise<string> {
  const { layers } = await json(`${repository}/manifests/${digest}`);
  const bundle = await json(`${repository}/blobs/${layers[0].digest}`);
  return Buffer.from(bundle.dsseEnvelope?.payload ?? "", "base64").toString();
}

describe("a second version", () => {
  let second: Pin;

  test("is offered while nobody has accepted its warnings, and changes nothing", async () => {
    const file = await packChaos(join(factory.dataDir, "made"), { version: "v2.0.0" }, withWarning);
    second = await uploadPin(file, uploadAddress());
    expect(second).toMatchObject({ state: "offered", sourceId: first.sourceId, tag: "v2.0.0" });
    expect(second.warnings).toBeGreaterThan(0);
    expect((await listed()).map(({ digest }: Pin) => digest)).toEqual([first.digest]);
    const untested = await post(`/api/v1/extensions/pins/${second.id}/boot-test`);
    expect([untested.status, untested.body.detail]).toEqual([409, `${NAME} v2.0.0 is not in use`]);
    const refused = await post(`/api/v1/extensions/pins/${second.id}/adopt`);
    expect([refused.status, refused.type]).toEqual([409, "application/problem+json"]);
    expect(refused.body.detail).toMatch(/^team\/chaos-daemon has \d+ warnings? that nobody has accepted/);
  });

  test("is used by new builds once it is adopted, and the schematic keeps its ID", async () => {
    const adopted = await post(`/api/v1/extensions/pins/${second.id}/adopt`, { acceptWarnings: true });
    expect([adopted.status, adopted.body.state]).toEqual([200, "adopted"]);
    expect(await listed()).toMatchObject([
      { digest: second.digest, ref: expect.stringMatching(/:v2\.0\.0$/) },
    ]);
    expect(await factory.schematic(SCHEMATIC)).toBe(id);
    const { pins } = await json(`/api/v1/sources/${first.sourceId}`);
    expect(pins.map(({ tag, state }: Pin) => `${tag} ${state}`)).toEqual([
      "v2.0.0 adopted",
      "v1.0.0 retired",
    ]);
    const today: ModelLock = await json(`/api/v1/models/${id}/${VERSION}/lock`);
    expect(today.inputs.at(-1)?.digest).toBe(second.digest);
    expect(await firstExtension(`/image/${id}/${VERSION}/metal-amd64-uki.efi`)).toContain(second.digest);
  });

  test("is not what an old lock builds", async () => {
    const kept = await post("/api/v1/locks", lock);
    expect(kept.status).toBe(201);
    const [before, now] = [
      await bytesOf(`/api/v1/locks/${kept.body.id}/initramfs-amd64.xz`),
      await bytesOf(`/image/${id}/${VERSION}/initramfs-amd64.xz`),
    ];
    expect(before.equals(now)).toBe(false);
    // Never built while its extension was in use: everything it needs is still here.
    const iso = await bytesOf(`/api/v1/locks/${kept.body.id}/nocloud-amd64.iso`);
    expect(iso.length).toBeGreaterThan(1_000_000);
    expect(await get(`/api/v1/locks/${kept.body.id}/initramfs-amd64.xz`)).toMatchObject({ status: 200 });
  });

  test("can be retired, after which new builds say what is missing and files that are there stay", async () => {
    const built = await bytesOf(`/image/${id}/${VERSION}/initramfs-amd64.xz`);
    await post(`/api/v1/extensions/pins/${second.id}/retire`);
    expect(await listed()).toEqual([]);
    expect((await bytesOf(`/image/${id}/${VERSION}/initramfs-amd64.xz`)).equals(built)).toBe(true);
    expect((await get(`/v2/metal-installer/${id}/manifests/${VERSION}`)).status).toBe(200);
    const refused = await get(`/image/${id}/${VERSION}/metal-amd64.qcow2`);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      `error enhancing profile from schematic: official extension "${NAME}" is not available for Talos version ${VERSION}\n`,
    ]);
    expect(refused.headers.get("x-error-hint")).toMatch(
      /^No own extension of that name is in use for v1\.13\.2/,
    );
    expect((await get(`/image/${id}/${VERSION}/metal-amd64-uki.efi`)).status).toBe(400);
  });
});

/** Asks for the plan of a file and gives it as text. */
const firstExtension = async (path: string) => (await get(path.replace("/image/", "/api/v1/plan/"))).text();

async function bytesOf(path: string): Promise<Buffer> {
  const reply = await get(path);
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return Buffer.from(await reply.arrayBuffer());
}
