/** Own extensions and boards out of registries: passwords, private addresses, trust, catalogs, official names, a declared file. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import type { FakeImage } from "../fixtures/fake-image.ts";
import { type Pin, sendJson } from "../fixtures/own-extensions.ts";
import { type OwnRegistry, startOwnRegistry } from "../fixtures/own-registry.ts";

const VERSION = "v1.13.2";
const ADMIN = "correct-horse-battery-staple";

let dir: string;
let registry: OwnRegistry;
/** Whose password the factory has wrong. */
let locked: OwnRegistry;
let factory: TestFactory;
let daemon: FakeImage;

const json = async (path: string) => (await fetch(factory.url + path)).json();
const send = (path: string, body: unknown = {}, method = "POST") =>
  sendJson(`${factory.url}/api/v1${path}`, body, { authorization: `Bearer ${ADMIN}` }, method);
const image = (name: string, reference: string, more: Record<string, unknown> = {}) => ({
  ...{ kind: "image", namespace: "team", name, reference: `http://${reference}` },
  ...more,
});
const listed = async (): Promise<{ name: string; digest: string }[]> =>
  json(`/version/${VERSION}/extensions/official`);
const digestOf = async (name: string) => (await listed()).find((one) => one.name === name)?.digest;
async function refusal(body: unknown) {
  const answer = await send("/sources", body);
  expect(answer.type).toBe("application/problem+json");
  return { status: answer.status, says: `${answer.body.detail}. ${answer.body.hint ?? ""}` };
}
const adopt = (pin: Pin, body: unknown = {}) => send(`/extensions/pins/${pin.id}/adopt`, body);
const declarations = () => join(dir, "sources.yaml");

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-own-"));
  registry = await startOwnRegistry(join(dir, "made"));
  locked = await startOwnRegistry(join(dir, "made"));
  daemon = await registry.pushChaos("team/daemon", "v1", "v1.0.0");
  await writeFile(
    join(dir, "auth.json"),
    JSON.stringify({ auths: { ...registry.auths(), ...locked.auths("wrong") } }),
  );
  await writeFile(declarations(), "sources: []\n");
  factory = await startTestFactory({
    sample: { tags: [VERSION] },
    environment: {
      ADMIN_TOKEN: ADMIN,
      OWN_EXTENSIONS: "admin",
      OWN_REGISTRY_AUTH_FILE: join(dir, "auth.json"),
      OWN_PRIVATE_REGISTRIES: `${registry.host},${locked.host}`,
      OWN_EXTENSIONS_FILE: declarations(),
    },
  });
}, 420_000);
afterAll(async () => {
  await factory?.stop();
  await locked?.stop();
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe("an image in a registry with a password", () => {
  let source: { id: string; pins: Pin[] };

  test("is fetched, checked and offered, and used once it is adopted", async () => {
    const added = await send("/sources", image("daemon", `${registry.host}/team/daemon:v1`));
    expect(added.status).toBe(201);
    source = added.body;
    expect(source.pins).toMatchObject([{ state: "offered", digest: daemon.digest, name: "team/daemon" }]);
    expect(await digestOf("team/daemon")).toBeUndefined();
    const [pin] = source.pins;
    expect((await send(`/extensions/pins/${pin?.id}/adopt`, { talos: ">=1.13.0" })).status).toBe(200);
    expect(await digestOf("team/daemon")).toBe(daemon.digest);
    const id = await factory.schematic(
      "customization: {systemExtensions: {officialExtensions: [team/daemon]}}",
    );
    expect(await factory.fetch(`/image/${id}/${VERSION}/initramfs-amd64.xz`)).toBeTruthy();
  });

  test("is offered anew when its tag moved, while what is in use stays", async () => {
    const next = await registry.pushChaos("team/daemon", "v1", "v1.1.0");
    const looked = await send(`/sources/${source.id}/look`);
    expect(looked.body.pins.map(({ digest, state }: Pin) => [digest, state])).toEqual([
      [next.digest, "offered"],
      [daemon.digest, "adopted"],
    ]);
    expect(await digestOf("team/daemon")).toBe(daemon.digest);
    expect((await send(`/sources/${source.id}/look`)).body.pins).toHaveLength(2);
    await send(`/extensions/pins/${looked.body.pins[0].id}/adopt`, { talos: ">=1.13.0" });
    expect(await digestOf("team/daemon")).toBe(next.digest);
  });

  test("is refused with the reason when it cannot be had, and nothing is kept of it", async () => {
    await locked.pushChaos("team/daemon", "v1", "v1.0.0");
    const before = (await json("/api/v1/sources")).sources.length;
    const cases: [string, number, RegExp][] = [
      [`${locked.host}/team/daemon:v1`, 503, /the registry answers 401\..*OWN_REGISTRY_AUTH_FILE/],
      [`${registry.host}/team/daemon:v9`, 404, /team\/daemon:v9 does not exist.*OWN_REGISTRY_AUTH_FILE/],
      [`${registry.host}/team/nothing:v1`, 404, /team\/nothing:v1 does not exist/],
    ];
    for (const [reference, status, words] of cases)
      expect([reference, await refusal(image("other", reference))]).toEqual([
        reference,
        { status, says: expect.stringMatching(words) },
      ]);
    expect((await json("/api/v1/sources")).sources).toHaveLength(before);
  });

  test.each([
    ["http://127.0.0.1:1/a/b:v1", 400, /may not be asked without TLS/],
    ["https://127.0.0.1:1/a/b:v1", 403, /127\.0\.0\.1:1 is a private address.*OWN_PRIVATE_REGISTRIES/],
    ["localhost:5555/a/b:v1", 403, /localhost is a private address/],
    ["[::1]:5000/a/b:v1", 403, /private address/],
    ["169.254.169.254/latest/meta-data:v1", 403, /private address/],
    ["team/daemon:v1", 400, /does not say which registry/],
    ["registry.example.com/UPPER:v1", 400, /not an image reference/],
    ["http://user:pass@10.0.0.1/a:v1", 400, /not an image reference/],
    ["registry.example.com/a\0b:v1", 400, /not an image reference/],
  ])("is not asked for at %j", async (reference, status, words) => {
    const body = { kind: "image", namespace: "team", name: "other", reference };
    expect(await refusal(body)).toEqual({ status, says: expect.stringMatching(words) });
  });
});

describe("trust", () => {
  let pair: { publicKey: KeyObject; privateKey: KeyObject };
  const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
  const newPair = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" });

  test("in a key takes what it signed, and nothing else", async () => {
    pair = newPair();
    const signed = await registry.pushChaos("team/signed", "v1", "v3.0.0");
    const reference = `${registry.host}/team/signed:v1`;
    const trust = { rule: "key", pem: pem(pair.publicKey) };
    expect(await refusal(image("signed", reference, { trust }))).toMatchObject({
      status: 502,
      says: expect.stringMatching(/signature/),
    });
    await registry.sign("team/signed", signed, pair.privateKey);
    const other = { rule: "key", pem: pem(newPair().publicKey) };
    expect(await refusal(image("signed", reference, { trust: other }))).toMatchObject({
      status: 502,
      says: expect.stringMatching(/signature/),
    });
    const added = await send("/sources", image("signed", reference, { trust }));
    expect([added.status, added.body.pins[0]?.digest]).toEqual([201, signed.digest]);
  });

  test.each([
    ["no key", "hello"],
    ["a text with NUL", "a\0b"],
    ["a private key", null],
    ["something else in PEM", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"],
  ])("in %s is refused", async (_, text) => {
    const key = text ?? newPair().privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const body = image("keyless", `${registry.host}/team/daemon:v1`, { trust: { rule: "key", pem: key } });
    expect(await refusal(body)).toEqual({
      status: 400,
      says: expect.stringMatching(
        /wrong at trust\.pem: a public key in PEM is needed|key of the source cannot be used/,
      ),
    });
  });

  test("in a digest takes that image whatever the tag says, and no other", async () => {
    const trust = { rule: "digest", digest: daemon.digest };
    const added = await send("/sources", image("exact", `${registry.host}/team/daemon:v1`, { trust }));
    expect(added.body.pins).toMatchObject([{ digest: daemon.digest }]);
    const other = image("exact2", `${registry.host}/team/daemon@sha256:${"0".repeat(64)}`, { trust });
    expect(await refusal(other)).toEqual({
      status: 400,
      says: expect.stringContaining("is not the image that the source trusts"),
    });
  });
});

describe("a catalog", () => {
  const catalog = (reference: string, more: Record<string, unknown> = {}) => ({
    ...{ kind: "catalog", namespace: "shop", reference: `http://${registry.host}/${reference}` },
    ...more,
  });

  test("offers what it lists for the newest release, in its namespace", async () => {
    const [one, two] = [
      await registry.pushChaos("shop/one", "v1", "v1.0.0"),
      await registry.pushChaos("shop/two", "v1", "v2.0.0"),
    ];
    await registry.pushCatalog("shop/extensions", VERSION, [
      { name: "shop/one", digest: one.digest },
      { name: "shop/two", digest: two.digest },
    ]);
    const added = await send("/sources", catalog("shop/extensions"));
    expect(added.status).toBe(201);
    const all = await send(`/sources/${added.body.id}/adopt`);
    expect(all.body.pins.map(({ state }: Pin) => state)).toEqual(["adopted", "adopted"]);
    expect([await digestOf("shop/one"), await digestOf("shop/two")]).toEqual([one.digest, two.digest]);
  });

  test("with a name of somebody else's, or without the release, is refused", async () => {
    await registry.pushCatalog("foreign/extensions", VERSION, [
      { name: "team/daemon", digest: daemon.digest },
    ]);
    expect(await refusal(catalog("foreign/extensions", { namespace: "foreign" }))).toEqual({
      status: 400,
      says: expect.stringContaining("names team/daemon, which is not in the namespace foreign"),
    });
    await registry.pushCatalog("old/extensions", "v1.0.0", []);
    expect(await refusal(catalog("old/extensions", { namespace: "old" }))).toEqual({
      status: 404,
      says: expect.stringContaining("has no catalog for any release that is offered here"),
    });
  });
});

describe("an official name", () => {
  const NAME = "siderolabs/iscsi-tools";
  const source = (override: boolean) => ({
    ...image("iscsi-tools", `${registry.host}/team/daemon:v1`),
    ...{ namespace: "siderolabs", override },
  });

  test("is replaced only on purpose, and everywhere it is said so", async () => {
    const before = await digestOf(NAME);
    expect(await refusal(source(false))).toMatchObject({ status: 400 });
    const added = await send("/sources", source(true));
    expect(added.status).toBe(201);
    expect(await digestOf(NAME)).toBe(before);
    const [pin] = added.body.pins;
    await adopt(pin);
    expect(await digestOf(NAME)).toBe(pin.digest);
    expect((await listed()).filter(({ name }) => name === NAME)).toHaveLength(1);
    const id = await factory.schematic(`customization: {systemExtensions: {officialExtensions: [${NAME}]}}`);
    const lock = await json(`/api/v1/models/${id}/${VERSION}/lock`);
    expect(lock.inputs.at(-1)).toMatchObject({ name: NAME, source: "own", digest: pin.digest });
    const usage = await send(`/sources/${added.body.id}`, {}, "DELETE");
    expect(usage.body).toMatchObject({ schematics: [id], hidden: 0 });
    expect(await digestOf(NAME)).toBe(before);
  });
});

describe("a board", () => {
  const build = (name: string) => factory.schematic(`overlay: {image: own/team/${name}, name: ${name}}\n`);

  test("by reference, and by catalog, writes its boot loader into the disk", async () => {
    const board = await registry.pushBoard("team/board", "v1", "my_board", factory.registryUrl);
    const added = await send(
      "/sources",
      image("my_board", `${registry.host}/team/board:v1`, { subject: "overlay" }),
    );
    expect([added.status, added.body.pins?.[0]?.digest]).toEqual([201, board.digest]);
    await adopt(added.body.pins[0]);
    const overlays = await json(`/version/${VERSION}/overlays/official`);
    expect(overlays.find(({ name }: Pin) => name === "my_board")).toMatchObject({ digest: board.digest });
    const id = await build("my_board");
    await factory.fetch(`/image/${id}/${VERSION}/metal-arm64.raw.zst`);
    const lock = await json(`/api/v1/models/${id}/${VERSION}/lock`);
    expect(lock.inputs.at(-1)).toMatchObject({ kind: "overlay", source: "own", digest: board.digest });

    const second = await registry.pushBoard("boards/two", "v1", "board_two", factory.registryUrl);
    const entry = { name: "board_two", image: "boards/two", digest: second.digest };
    await registry.pushOverlays("boards/overlays", VERSION, [entry]);
    const catalog = await send("/sources", {
      ...{ kind: "catalog", subject: "overlay", namespace: "boards" },
      reference: `http://${registry.host}/boards/overlays`,
    });
    expect(catalog.status).toBe(201);
    await send(`/sources/${catalog.body.id}/adopt`);
    await factory.fetch(`/image/${await build("board_two")}/${VERSION}/metal-arm64.raw.zst`);
  });
});

describe("a file of declared sources", () => {
  const declare = async (text: string) => {
    await writeFile(`${declarations()}.new`, text);
    await rename(`${declarations()}.new`, declarations());
  };
  const source = (more: string) =>
    `sources:\n  - {kind: image, namespace: ops, name: daemon, reference: "http://${registry.host}/ops/daemon:v1"${more}}\n`;
  const eventually = (digest: string | undefined) =>
    vi.waitFor(async () => expect(await digestOf("ops/daemon")).toBe(digest), {
      timeout: 60_000,
      interval: 250,
    });
  const declared = async () =>
    (await json("/api/v1/sources")).sources.find((one: { namespace: string }) => one.namespace === "ops");

  test("is applied, changed and taken back; a wrong one changes nothing", async () => {
    const first = await registry.pushChaos("ops/daemon", "v1", "v1.0.0");
    await declare(source(', adopt: [{talos: ">=1.12.0"}]'));
    await eventually(first.digest);
    const kept = await declared();
    expect(kept).toMatchObject({ declared: true });
    const refused = await send(`/sources/${kept.id}`, {}, "DELETE");
    expect([refused.status, refused.body.detail]).toEqual([409, "This source is declared in a file"]);

    const second = await registry.pushChaos("ops/daemon", "v1", "v2.0.0");
    await declare(source(`, adopt: [{talos: ">=1.12.0", digest: "${second.digest}"}]`));
    await eventually(second.digest);

    await declare("sources: [{kind: image, namespace: ops}]\n");
    await declare(
      `${source("")}  - {kind: image, namespace: team, name: daemon, reference: "r.example.com/a:1"}\n`,
    );
    await vi.waitFor(
      async () =>
        expect(await readFile(join(factory.dataDir, "log/web.log"), "utf8")).toContain(
          "added a source of that name by hand",
        ),
      {
        timeout: 60_000,
        interval: 250,
      },
    );
    expect(await digestOf("ops/daemon")).toBe(second.digest);

    await declare("sources: []\n");
    await eventually(undefined);
    expect(await declared()).toBeUndefined();
    expect(await digestOf("team/daemon")).toBeDefined();
  });
});
