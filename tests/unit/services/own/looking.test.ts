/** Looks at registries: what is refused leaves nothing, what does not fit is not fetched, and races are said as such. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { applyDeclarations, parseDeclarations } from "../../../../lib/services/own/declared.ts";
import { makeLayer, sha256 } from "../../../fixtures/fake-image.ts";
import {
  extensionEntries,
  extensionLayer,
  type OwnWorldSettings,
  openOwnWorld,
} from "../../../fixtures/own-service.ts";

const patient = () => new AbortController().signal;

async function open(settings: OwnWorldSettings = {}) {
  const world = await openOwnWorld(settings);
  onTestFinished(() => world.close());
  const push = async (content: string, repository = "team/daemon", tag = "v1") =>
    world.registry.push(repository, tag, { layers: [await extensionLayer(content)], arches: ["amd64"] });
  const input = (change: Record<string, unknown> = {}) => ({
    ...{ kind: "image" as const, subject: "extension" as const, namespace: "team", name: "daemon" },
    ...{ reference: `http://${world.host}/team/daemon:v1`, trust: { rule: "off" as const }, override: false },
    ...change,
  });
  return { ...world, push, input };
}

const blobsFetched = /^GET .*\/blobs\//;

it("keeps an image once it was judged, and none of the scratch", async () => {
  const { own, input, push, stored, scratch, content, kept } = await open();
  const { digest } = await push("one");
  const { pins } = await own.add(input(), patient());
  expect(pins).toMatchObject([{ digest, state: "offered", author: "Team" }]);
  expect((await stored()).sort()).toEqual(
    [...kept.keys()].map((one) => `blobs/sha256/${one.slice(7)}`).sort(),
  );
  expect(kept.size).toBe(2);
  expect([[...content.keys()], await scratch()]).toEqual([["offered/team/daemon"], []]);
});

it("keeps nothing of an image that the checks refuse", async () => {
  const { own, input, registry, host, stored, scratch, content, kept } = await open();
  const wrong = await makeLayer([...extensionEntries("x"), { name: "rootfs/etc/passwd", content: "root" }]);
  registry.push("team/wrong", "v1", { layers: [wrong], arches: ["amd64"] });
  const reference = `http://${host}/team/wrong:v1`;
  await expect(own.add(input({ reference }), patient())).rejects.toMatchObject({
    code: "invalid_input",
    extra: { details: { reports: expect.anything() } },
  });
  expect([await own.list(), await stored(), await scratch(), content.size, kept.size]).toEqual([
    ...[[], [], [], 0, 0],
  ]);
});

it("fetches no layer of an image that does not fit, and says how much is taken", async () => {
  const { own, input, push, registry, kept } = await open({ mostBytes: 100_000 });
  kept.set("sha256:other", 90_000);
  await push(randomBytes(20_000).toString("base64"));
  await expect(own.add(input(), patient())).rejects.toMatchObject({
    code: "out_of_space",
    message:
      "Own extensions and overlays may take 0.1 MiB together, 0.1 MiB are taken, and this one does not fit",
  });
  expect([registry.count(blobsFetched), await own.list(), kept.size]).toEqual([0, [], 1]);
});

it("counts blobs that are here already as no more", async () => {
  const { own, input, push, kept } = await open({ mostBytes: 30_000 });
  const content = randomBytes(20_000).toString("base64");
  await push(content);
  await own.add(input(), patient());
  const size = kept.size;
  await own.add(input({ name: "again" }), patient());
  expect(kept.size).toBe(size);
});

it("tells that a source was removed while it was looked at", async () => {
  const { own, input, push, sources } = await open();
  await push("one");
  const { id } = await own.add(input(), patient());
  await push("two");
  const removal: Promise<unknown>[] = [];
  sources.meanwhile = () => {
    sources.meanwhile = () => undefined;
    removal.push(own.remove(id));
  };
  await expect(own.look(id, patient())).rejects.toMatchObject({
    code: "not_found",
    message: 'The source "team/daemon" was deleted meanwhile',
  });
  await Promise.all(removal);
  expect(await own.list()).toEqual([]);
});

it("does not take a retired image into use when there are too many", async () => {
  const { own, input, push } = await open({ maxCount: 1 });
  await push("one");
  const { pins } = await own.add(input(), patient());
  const [first] = pins;
  if (first === undefined) throw new Error("nothing is offered");
  await own.retire(first.id);
  await own.add(input({ name: "other" }), patient());
  await expect(own.adopt(first.id, {})).rejects.toThrow("keeps at most 1 own extensions");
});

it.each([
  ["everyone", true, false],
  ["administrators", false, true],
])("where %s may add sources, credentials of the operator are used: %s", async (_, everyone, works) => {
  const authFile = join(tmpdir(), `casthouse-auth-${process.pid}-${everyone}.json`);
  onTestFinished(() => rm(authFile, { force: true }));
  const { own, options, input, push, registry, host } = await open({ everyone, authFile });
  const { digest } = await push("one");
  const auth = Buffer.from("robot:s3cret").toString("base64");
  await writeFile(authFile, JSON.stringify({ auths: { [host]: { auth } } }));
  registry.switches.auth = "basic";
  registry.switches.credentials = { username: "robot", password: "s3cret" };
  const adding = own.add(input(), patient());
  if (works) expect((await adding).pins).toMatchObject([{ digest }]);
  else await expect(adding).rejects.toThrow("the registry answers 401");
  const declared = `sources: [{kind: image, namespace: ops, name: a, reference: "http://${host}/team/daemon:v1"}]`;
  expect(await applyDeclarations(options, parseDeclarations(declared), patient())).toMatchObject({
    failures: [],
  });
});

it("refuses a catalog that is too large before it is fetched, and one with names that lead elsewhere", async () => {
  const { own, registry, host } = await open({ versions: ["v1.13.2"] });
  const catalog = {
    ...{ kind: "catalog" as const, subject: "extension" as const, namespace: "team", override: false },
    ...{ reference: `http://${host}/team/extensions`, trust: { rule: "off" as const } },
  };
  const list = (line: string) => makeLayer([{ name: "image-digests", content: line }]);
  const push = (layers: Buffer[]) =>
    registry.push("team/extensions", "v1.13.2", { layers, arches: ["amd64"] });
  push([randomBytes(17 * 2 ** 20)]);
  await expect(own.add(catalog, patient())).rejects.toMatchObject({ code: "too_large" });
  expect(registry.count(blobsFetched)).toBe(0);
  for (const name of ["team/overlays/board", "team/a/b/c", "team", "team/a__b"]) {
    push([await list(`${host}/${name}:v1@sha256:${"0".repeat(64)}\n`)]);
    await expect(own.add(catalog, patient())).rejects.toThrow("is no name of an own extension");
  }
});

it("brings what the file names by digest, whatever the tag means by now", async () => {
  const { options, push, host, own } = await open();
  const old = await push("old");
  const newer = await push("newer");
  const declare = (digest: string) =>
    parseDeclarations(
      `sources: [{kind: image, namespace: team, name: daemon, reference: "http://${host}/team/daemon:v1", adopt: [{digest: "${digest}"}]}]`,
    );
  const statesOf = async () => (await own.list())[0]?.pins.map(({ digest, state }) => [digest, state]);
  expect(await applyDeclarations(options, declare(old.digest), patient())).toMatchObject({ failures: [] });
  expect(await statesOf()).toEqual([[old.digest, "adopted"]]);
  await applyDeclarations(options, declare(newer.digest), patient());
  expect(await statesOf()).toEqual([
    [newer.digest, "adopted"],
    [old.digest, "retired"],
  ]);
  const missing = `sha256:${"0".repeat(64)}`;
  const { failures } = await applyDeclarations(options, declare(missing), patient());
  expect(failures).toMatchObject([
    { code: "not_found", message: `the image team/daemon@${missing} does not exist` },
  ]);
  expect((await statesOf())?.[0]).toEqual([newer.digest, "adopted"]);
});

it("looks again only at declared sources that failed", async () => {
  const { options, push, registry, host } = await open();
  await push("one");
  const one = (name: string, tag: string) =>
    `{kind: image, namespace: team, name: ${name}, reference: "http://${host}/team/daemon:${tag}"}`;
  const declarations = parseDeclarations(`sources: [${one("bad", "v9")}, ${one("good", "v1")}]`);
  const first = await applyDeclarations(options, declarations, patient());
  expect([first.done.length, first.failures.length]).toEqual([1, 1]);
  registry.seen.length = 0;
  const second = await applyDeclarations(options, declarations, patient(), first.done);
  expect([second.done.length, registry.count(/manifests\/v1/), registry.count(/manifests\/v9/) > 0]).toEqual([
    ...[1, 0, true],
  ]);
});

it("gives a registry so long and no longer, and meanwhile others are not held up", async () => {
  const { own, input, push, registry, scratch } = await open({ lookMs: 1_000 });
  await push("one");
  registry.switches.faults = [{ match: /GET .*\/blobs\//, times: 1, stallAt: 5 }];
  const slow = own.add(input(), patient()).catch((error: unknown) => error);
  await expect.poll(() => registry.count(blobsFetched)).toBe(1);
  const archive = Readable.from([await extensionLayer("two")]);
  const upload = { namespace: "team", name: "fast", arch: "amd64" as const, sizeBytes: null, body: archive };
  expect((await own.upload({ ...upload, signal: patient() })).state).toBe("adopted");
  expect(await slow).toMatchObject({
    code: "timed_out",
    message: expect.stringContaining("was not fetched within"),
  });
  expect(await scratch()).toEqual([]);
});

it("replaces nothing official where everyone may add sources", async () => {
  const { own, input, registry } = await open({ everyone: true });
  await expect(own.add(input({ override: true }), patient())).rejects.toMatchObject({ code: "forbidden" });
  expect(registry.seen).toEqual([]);
});

it.each([
  "text/html",
  "image/svg+xml",
  "application/xhtml+xml",
  "text/html+json",
  "application/vnd.x+json\0",
])("takes no manifest that a browser would be told to show as %j", async (mediaType) => {
  const { own, input, registry, push, host, content } = await open();
  const { manifests } = await push("one");
  const [index] = manifests.slice(-1);
  const document = { ...JSON.parse(String(index?.bytes)), mediaType, annotations: { a: "<script>" } };
  const bytes = Buffer.from(JSON.stringify(document));
  const digest = sha256(bytes);
  registry.repository("team/daemon").manifests.set(digest, { mediaType: "text/html", bytes });
  const reference = `http://${host}/team/daemon@${digest}`;
  await expect(own.add(input({ reference }), patient())).rejects.toMatchObject({ code: "source_invalid" });
  expect(content.size).toBe(0);
});

it("knows a manifest that does not say its type by its shape, whatever the registry calls it", async () => {
  const { own, input, registry, push, host, content } = await open();
  const { manifests } = await push("one");
  const [index] = manifests.slice(-1);
  const { mediaType: _type, ...document } = JSON.parse(String(index?.bytes));
  const bytes = Buffer.from(JSON.stringify(document));
  const digest = sha256(bytes);
  registry.repository("team/daemon").manifests.set(digest, { mediaType: "text/html", bytes });
  await own.add(input({ reference: `http://${host}/team/daemon@${digest}` }), patient());
  expect(content.get("offered/team/daemon")?.manifests.map(({ mediaType }) => mediaType)).toEqual([
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
  ]);
});

it("leaves no key of a source behind, whether its image is signed or not", async () => {
  const { own, input, push, everything } = await open();
  await push("one");
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const trust = { rule: "key" as const, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
  await expect(own.add(input({ trust }), patient())).rejects.toMatchObject({ code: "source_invalid" });
  expect(await everything()).toEqual(["scratch"]);
});
