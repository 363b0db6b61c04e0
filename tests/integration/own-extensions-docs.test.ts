/** The commands of docs/own-extensions.md, without a server in both languages, then with one; and the command casthouse extension. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BROKEN_FILES } from "../fixtures/broken-extensions.ts";
import { BROKEN_SERVICES } from "../fixtures/broken-services.ts";
import { writeChaosExtension } from "../fixtures/chaos-extension.ts";
import { commandBlocks } from "../fixtures/document-commands.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const VERSION = "v1.13.2";
const PAGES = ["docs/own-extensions.md", "docs/own-extensions.fr.md"];
/** The command is bundled as for use, once, inside the project: it finds its packages from there. */
const BUNDLES = resolve("node_modules/.cache");

let root: string;
let bundle: string;

beforeAll(async () => {
  mkdirSync(BUNDLES, { recursive: true });
  bundle = mkdtempSync(join(BUNDLES, "casthouse-command-"));
  const outfile = join(bundle, "cli.mjs");
  const shape = {
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    format: "esm",
  } as const;
  await build({ entryPoints: ["cli/main.ts"], outfile, ...shape, logLevel: "warning" });
  root = mkdtempSync(join(tmpdir(), "casthouse-own-docs-"));
  mkdirSync(join(root, "bin"));
  const wrapper = `#!/bin/sh\nexec '${process.execPath}' '${outfile}' "$@"\n`;
  writeFileSync(join(root, "bin/casthouse"), wrapper);
  chmodSync(join(root, "bin/casthouse"), 0o755);
});
afterAll(() => {
  for (const dir of [root, bundle]) rmSync(dir, { recursive: true, force: true });
});

interface Ended {
  status: number;
  out: string;
  err: string;
}

/** Not awaited synchronously: the server of this process has to answer meanwhile. */
function shell(commands: string, cwd: string, variables: Record<string, string> = {}): Promise<Ended> {
  const path = `${join(root, "bin")}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, HOME: root, VERSION, ...variables };
  return new Promise((settle) => {
    execFile("bash", ["-euo", "pipefail", "-c", commands], { cwd, env }, (error, out, err) =>
      settle({ status: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}

const folder = () => mkdtempSync(join(root, "run-"));

describe.each(PAGES)("%s", (page) => {
  it("has commands that work without a server", async () => {
    const cwd = folder();
    const blocks = commandBlocks(page).filter(({ needs }) => needs === "");
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    for (const { commands } of blocks) expect(await shell(commands, cwd)).toMatchObject({ status: 0 });
    const [report] = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
    expect(report).toMatchObject({ arch: "amd64", findings: [], metadata: { name: "chaos-daemon" } });
  });

  it("explains every code of a finding", () => {
    const text = readFileSync(page, "utf8");
    for (const { code } of [...BROKEN_FILES, ...BROKEN_SERVICES]) expect(text).toContain(`\`${code}\``);
  });
});

it("says the same commands, tables and codes in both languages", () => {
  const facts = (page: string) => {
    const text = readFileSync(page, "utf8");
    return {
      commands: commandBlocks(page).map(({ needs, commands }) => [needs, commands]),
      headings: text.match(/^## /gm)?.length,
      rows: text.match(/^\|/gm)?.length,
      codes: text.match(/^\| `[a-z]+(-[a-z]+)*`/gm),
    };
  };
  const [english = "", french = ""] = PAGES;
  expect(facts(french)).toEqual(facts(english));
});

describe("with a factory", () => {
  let factory: TestFactory;
  beforeAll(async () => {
    factory = await startTestFactory({ environment: { OWN_EXTENSIONS: "everyone" } });
  }, 420_000);
  afterAll(() => factory?.stop());

  it("the extension is sent by command and by curl, listed, and built", async () => {
    const cwd = folder();
    const variables = { FACTORY: factory.url, HOST: new URL(factory.url).host };
    const blocks = commandBlocks(PAGES[0] ?? "").filter(({ needs }) => needs === "" || needs === "factory");
    expect(blocks.filter(({ needs }) => needs === "factory")).toHaveLength(3);
    let last = "";
    for (const { commands } of blocks) {
      const ended = await shell(commands, cwd, variables);
      expect(ended).toMatchObject({ status: 0 });
      last = ended.out;
    }
    expect(last).toMatch(/^installer: \S+\/metal-installer\/[0-9a-f]{64}:v1\.13\.2\n$/);
    const listed: unknown = await (
      await fetch(`${factory.url}/version/${VERSION}/extensions/official`)
    ).json();
    expect(listed).toContainEqual(
      expect.objectContaining({ name: "team/chaos-daemon", author: "Your name" }),
    );
  });

  it("a boot test of what was sent is asked for, and told", async () => {
    const { sources } = await (await fetch(`${factory.url}/api/v1/sources`)).json();
    const pins: { id: string; state: string }[] = sources.flatMap(({ pins: all }: { pins: [] }) => all);
    const pin = pins.find(({ state }) => state === "adopted");
    const [block] = commandBlocks(PAGES[0] ?? "").filter(({ needs }) => needs === "pin");
    const ended = await shell(block?.commands ?? "false", folder(), {
      FACTORY: factory.url,
      PIN: pin?.id ?? "",
    });
    expect(ended).toMatchObject({ status: 0, out: expect.stringMatching(/"state":"(?:queued|running)"/) });
  });
});

describe("casthouse extension", () => {
  it("makes, checks and packs one without a service and for arm64", async () => {
    const cwd = folder();
    const made = await shell(
      "casthouse extension new files --name data && casthouse extension pack files && casthouse extension new arm --service --arch arm64 && casthouse extension pack arm",
      cwd,
    );
    expect(made.status).toBe(0);
    expect(readdirSync(cwd).sort()).toEqual(["arm", "arm-0.1.0-arm64.tar.gz", "data-0.1.0.tar.gz", "files"]);
    const [line = ""] = made.out.split("\n");
    const [file = "", digest] = line.split(" ");
    expect(digest).toBe(`sha256:${createHash("sha256").update(readFileSync(file)).digest("hex")}`);
  });

  it("refuses a folder with something in it, names that are none, and what it does not know", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "file"), "");
    const refused = async (command: string) => {
      const { status, err } = await shell(`casthouse extension ${command}`, cwd);
      expect(status).toBe(2);
      return err;
    };
    expect(await refused("new .  --name x")).toContain(". is not empty");
    expect(await refused("new y --name 'Not A Name'")).toContain("is no name of an own extension");
    expect(await refused("unpack x")).toContain("knows no unpack");
    expect(await refused("new z --arch riscv64")).toContain("riscv64 is not an architecture");
    expect(await refused("check file --talos newest")).toContain("newest is not a version");
    expect(await refused("check file")).toContain("not a tar archive or holds nothing");
    expect(readdirSync(cwd)).toEqual(["file"]);
  });

  it("ends with 2 and names the code when there are errors, and packs nothing", async () => {
    const cwd = folder();
    const dir = await writeChaosExtension(join(cwd, "chaos"), { version: "1.0.0", talos: ">= v1.20.0" });
    const checked = await shell("casthouse extension check chaos --talos v1.13.2", cwd);
    expect(checked).toMatchObject({ status: 2, err: expect.stringContaining("chaos has 1 error\n") });
    expect(checked.out).toContain(
      "error   constraint-mismatch: The extension is for Talos >= v1.20.0, not for v1.13.2",
    );
    writeFileSync(join(dir, "README"), "");
    expect((await shell("casthouse extension pack chaos", cwd)).status).toBe(2);
    expect(readdirSync(cwd)).toEqual(["chaos"]);
  });
});

describe("casthouse extension push", () => {
  interface Asked {
    request: string;
    authorization: string | undefined;
    bytes: Buffer;
  }

  /** A factory that answers once, as told. */
  async function factory(status: number, body: unknown, work: (url: string) => Promise<Ended>) {
    const asked: Asked[] = [];
    const read = async (message: IncomingMessage): Promise<Asked> => ({
      request: `${message.method} ${message.url}`,
      authorization: message.headers.authorization,
      bytes: await buffer(message),
    });
    const server = createServer((message, reply) => {
      void read(message).then((one) => {
        asked.push(one);
        reply.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    try {
      return { ended: await work(`http://127.0.0.1:${port}/`), asked };
    } finally {
      server.close();
    }
  }

  it("sends the bytes of pack with what was asked for, and says what became of it", async () => {
    const cwd = folder();
    await writeChaosExtension(join(cwd, "chaos"), { version: "1.0.0" });
    writeFileSync(join(cwd, "token"), "secret-token\n");
    await shell("casthouse extension pack chaos --output packed.tar.gz", cwd);
    const pin = { name: "team/chaos", digest: "sha256:1", talos: ">=1.12.0", state: "adopted", warnings: 0 };
    const flags = "--name team/chaos --talos '>=1.12.0' --token-file token --accept-warnings";
    const { ended, asked } = await factory(201, pin, (url) =>
      shell(`casthouse extension push chaos --to ${url} ${flags}`, cwd),
    );
    expect(ended).toMatchObject({ status: 0, out: "team/chaos sha256:1\n" });
    expect(ended.err).toContain("adopted: images for >=1.12.0 that name team/chaos have it from now on");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      request: "PUT /api/v1/extensions/team/chaos?talos=%3E%3D1.12.0&accept-warnings=true",
      authorization: "Bearer secret-token",
    });
    expect(asked[0]?.bytes.equals(readFileSync(join(cwd, "packed.tar.gz")))).toBe(true);
  });

  it("says where warnings are read, and passes on what the factory refuses", async () => {
    const cwd = folder();
    await writeChaosExtension(join(cwd, "chaos"), { version: "1.0.0" });
    const offered = { name: "team/chaos", digest: "sha256:1", talos: "", state: "offered", warnings: 2 };
    const push = (url: string) => shell(`casthouse extension push chaos --to ${url} --name team/chaos`, cwd);
    const kept = await factory(201, offered, push);
    expect(kept.ended.err).toMatch(/on offer with 2 warnings: read and adopt it on http:.*\/extensions,/);
    expect(kept.asked[0]?.authorization).toBeUndefined();
    const problem = { code: "unauthenticated", detail: "Own extensions need a token", hint: "Send it." };
    const refused = await factory(401, problem, push);
    expect(refused.ended).toMatchObject({ status: 5, out: "" });
    expect(refused.ended.err).toMatch(/refuses it: Own extensions need a token\nSend it\.\n$/);
    const strange = await factory(200, "hello", push);
    expect(strange.ended.err).toContain("answered 200, not as a factory does");
  });

  it("sends nothing that has errors, and needs an address and a whole name", async () => {
    const cwd = folder();
    const dir = await writeChaosExtension(join(cwd, "chaos"), { version: "1.0.0" });
    const bad = await shell("casthouse extension push chaos --to ftp://x --name team/chaos", cwd);
    expect(bad).toMatchObject({
      status: 2,
      err: expect.stringContaining("--to with the address of a factory"),
    });
    const short = await shell("casthouse extension push chaos --to http://x --name chaos", cwd);
    expect(short).toMatchObject({ status: 2, err: expect.stringContaining("--name <namespace>/<name>") });
    chmodSync(join(dir, "rootfs/usr/local"), 0o777);
    const { ended, asked } = await factory(201, {}, (url) =>
      shell(`casthouse extension push chaos --to ${url} --name team/chaos`, cwd),
    );
    expect(ended.status).toBe(2);
    expect(asked).toEqual([]);
  });
});
