/** Who may bring own extensions, how large and how many, and what is said to bad requests. */
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { curlUpload, packChaos, sendJson, uploadPin } from "../fixtures/own-extensions.ts";

const VERSION = "v1.13.2";
const ADMIN = "correct-horse-battery-staple";
const WITH_TOKEN = ["-H", `Authorization: Bearer ${ADMIN}`];

let factory: TestFactory;
let archive: string;
const address = (name: string) => `${factory.url}/api/v1/extensions/${name}`;
const send = (path: string, body: unknown = {}, method = "POST", token = ADMIN) =>
  sendJson(`${factory.url}/api/v1${path}`, body, { authorization: `Bearer ${token}` }, method);

beforeAll(async () => {
  factory = await startTestFactory({
    sample: { tags: [VERSION] },
    environment: {
      ADMIN_TOKEN: ADMIN,
      OWN_EXTENSIONS: "admin",
      OWN_EXTENSIONS_MAX_SIZE: "1",
      OWN_EXTENSIONS_MAX_COUNT: "2",
      OWN_EXTENSIONS_MAX_TOTAL: "12",
    },
  });
  archive = await packChaos(join(factory.dataDir, "made"), { version: "v1.0.0" });
}, 420_000);
afterAll(() => factory?.stop());

describe("where administrators only may bring extensions", () => {
  test.each([
    ["no token", []],
    ["another token", ["-H", "Authorization: Bearer wrong-wrong-wrong-wrong"]],
    ["the token as a password", ["-u", `admin:${ADMIN}`]],
    ["the token in a cookie", ["-H", `Cookie: administrator=${ADMIN}`]],
  ])("%s is refused", async (_, flags) => {
    const answer = await curlUpload(archive, address("team/daemon"), ...flags);
    expect([answer.status, answer.type]).toEqual([401, "application/problem+json"]);
    expect(JSON.parse(answer.text)).toMatchObject({
      detail: "Own extensions can only be changed with the administrator's token",
    });
  });

  test("every change needs it, and reading does not", async () => {
    const id = "01890000-0000-7000-8000-000000000001";
    for (const [method, path] of [
      ["POST", "/sources"],
      ["POST", `/sources/${id}/look`],
      ["POST", `/sources/${id}/adopt`],
      ["DELETE", `/sources/${id}`],
      ["POST", `/extensions/pins/${id}/adopt`],
      ["POST", `/extensions/pins/${id}/retire`],
    ] as const)
      expect([path, (await send(path, {}, method, "x")).status]).toEqual([path, 401]);
    expect(await (await fetch(`${factory.url}/api/v1/sources`)).json()).toEqual({
      mode: "admin",
      sources: [],
    });
  });

  test("a page of another site cannot do it for a signed-in browser", async () => {
    const origin = { origin: "https://evil.example", authorization: `Bearer ${ADMIN}` };
    const reply = await fetch(`${factory.url}/api/v1/sources`, {
      method: "POST",
      headers: origin,
      body: "{}",
    });
    expect(reply.status).toBe(403);
  });
});

describe("limits", () => {
  test("an archive that is too large is told so, however it is sent", async () => {
    const large = join(factory.dataDir, "large.tar");
    await writeFile(large, Buffer.alloc(6 * 2 ** 20, 7));
    for (const flags of [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]]) {
      const answer = await curlUpload(large, address("team/large"), ...WITH_TOKEN, ...flags);
      expect([flags, answer.status, answer.text]).toEqual([
        flags,
        413,
        expect.stringContaining("The archive is larger than 1048576 bytes"),
      ]);
    }
  });

  test("a sender who leaves in the middle leaves nothing behind", async () => {
    const { port } = new URL(factory.url);
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    const head = `PUT /api/v1/extensions/team/gone HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN}`;
    await new Promise((resolve) => socket.write(`${head}\r\nContent-Length: 100000\r\n\r\nhalf`, resolve));
    socket.destroy();
    expect((await fetch(`${factory.url}/healthz`)).status).toBe(200);
    expect((await (await fetch(`${factory.url}/api/v1/sources`)).json()).sources).toEqual([]);
  });

  test("only so many are kept, until some are retired", async () => {
    const one = await uploadPin(archive, address("team/one"), ...WITH_TOKEN);
    await uploadPin(archive, address("team/two"), ...WITH_TOKEN);
    const third = await curlUpload(archive, address("team/three"), ...WITH_TOKEN);
    expect([third.status, JSON.parse(third.text).detail]).toEqual([
      409,
      "This factory keeps at most 2 own extensions and overlays",
    ]);
    expect((await send(`/extensions/pins/${one.id}/retire`)).status).toBe(200);
    await uploadPin(archive, address("team/three"), ...WITH_TOKEN);
    const sources = (await (await fetch(`${factory.url}/api/v1/sources`)).json()).sources;
    for (const { id } of sources) await send(`/sources/${id}`, {}, "DELETE");
  });
});

describe("bad requests", () => {
  test.each([
    "Team/daemon",
    "team/-daemon",
    "team/dae..mon",
    "team/%00",
    "team/a%2fb",
    "te%20am/daemon",
    `team/${"a".repeat(64)}`,
    "%F0%9F%98%80/daemon",
    "team/da%0Aemon",
    "siderolabs/gvisor",
    "team/'or'1",
  ])("the name %s is refused", async (name) => {
    const answer = await curlUpload(archive, address(name), "--path-as-is", ...WITH_TOKEN);
    expect([name, answer.status >= 400 && answer.status < 500, answer.type]).toEqual([
      name,
      true,
      "application/problem+json",
    ]);
  });

  test.each([
    ["?talos=nonsense", 400],
    ["?arch=sparc", 400],
    ["?override=yes", 400],
    ["?accept-warnings=1", 400],
    [`?talos=${">".repeat(300)}`, 400],
  ])("the question %s is refused", async (query, status) => {
    const answer = await curlUpload(archive, `${address("team/daemon")}${query}`, ...WITH_TOKEN);
    expect([answer.status, answer.type]).toEqual([status, "application/problem+json"]);
  });

  test.each([
    ["nothing", ""],
    ["text", "hello"],
    ["a broken archive", "\x1f\x8b\x08broken"],
    ["zeros", "\0".repeat(2048)],
  ])("%s is no archive", async (_, content) => {
    const file = join(factory.dataDir, "content");
    await writeFile(file, Buffer.from(content, "latin1"));
    const answer = await curlUpload(file, address("team/daemon"), ...WITH_TOKEN);
    expect([answer.status, answer.type]).toEqual([400, "application/problem+json"]);
  });

  test("an archive without what an extension needs is refused with its report", async () => {
    const file = await packChaos(join(factory.dataDir, "made"), { version: "v1.0.0", talos: ">= v9.0.0" });
    const answer = await curlUpload(file, address("team/daemon"), ...WITH_TOKEN);
    const problem = JSON.parse(answer.text);
    expect(answer.status).toBe(400);
    expect(problem.detail).toMatch(/^team\/daemon cannot be used: /);
    expect(problem.details.reports[0].findings[0]).toMatchObject({ severity: "error" });
  });

  test("texts that a database would not take are kept as far as they can be", async () => {
    const file = await packChaos(join(factory.dataDir, "made"), { version: "v1.0.0" }, async (tree) => {
      const path = join(tree, "manifest.yaml");
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace(/description: .*/, 'description: "a\\0b \\uD83D"'));
    });
    const answer = await curlUpload(file, address("team/texts"), ...WITH_TOKEN);
    expect(answer.status).toBe(201);
    const list = await fetch(`${factory.url}/api/v1/sources`);
    expect(list.status).toBe(200);
  });

  test.each([
    ["[]"],
    ["null"],
    ["{"],
    ['{"kind":"image"}'],
    ['{"kind":"shop","namespace":"a"}'],
    ['{"kind":"image","namespace":"team","name":"x","reference":5}'],
    ['{"kind":"upload","namespace":"team","name":"x","trust":{"rule":"digest","digest":"x"}}'],
    ['{"kind":"catalog","namespace":"__proto__","reference":"r.io/a"}'],
    ['{"kind":"image","namespace":"team","name":"x","reference":"r.io/a:1","trust":{"rule":"magic"}}'],
    ['{"kind":"image","namespace":"team","name":"x","reference":"r.io/a:1","extra":1}'],
    [`"${"x".repeat(70_000)}"`],
  ])("the source %s is refused", async (body) => {
    const reply = await fetch(`${factory.url}/api/v1/sources`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}` },
      body,
    });
    expect([reply.status >= 400 && reply.status < 500, reply.headers.get("content-type")]).toEqual([
      true,
      "application/problem+json",
    ]);
  });

  test("addresses of nothing are not found", async () => {
    const id = "01890000-0000-7000-8000-000000000001";
    for (const [method, path, status] of [
      ["GET", `/sources/${id}`, 404],
      ["GET", "/sources/nonsense", 400],
      ["POST", `/sources/${id}/look`, 404],
      ["GET", `/sources/${id}/usage`, 404],
      ["DELETE", `/sources/${id}`, 404],
      ["POST", `/extensions/pins/${id}/adopt`, 404],
      ["GET", `/extensions/pins/${id}/check?talos=v1.13.2`, 404],
      ["GET", `/extensions/pins/${id}/check`, 400],
    ] as const)
      expect([path, (await send(path, {}, method)).status]).toEqual([path, status]);
  });
});

describe("room", () => {
  test("is not had by sending, retiring and sending again", async () => {
    let sent = 0;
    for (;;) {
      const answer = await curlUpload(archive, address("team/again"), ...WITH_TOKEN);
      if (answer.status !== 201) {
        expect([answer.status, answer.type]).toEqual([507, "application/problem+json"]);
        expect(JSON.parse(answer.text)).toMatchObject({
          detail: expect.stringMatching(
            / may take 12 MiB together, 1[12](?:\.\d)? MiB are taken, and this one does not fit$/,
          ),
          hint: expect.stringContaining("OWN_EXTENSIONS_MAX_TOTAL"),
        });
        break;
      }
      sent += 1;
      expect(sent).toBeLessThan(12);
      expect((await send(`/extensions/pins/${JSON.parse(answer.text).id}/retire`)).status).toBe(200);
    }
    expect(sent).toBeGreaterThan(0);
  });
});
