/** The commands of docs/verify.md against a running factory, and that each check fails when a byte is changed. */
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandBlocks } from "../fixtures/document-commands.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const VERSION = "v1.13.2";
const FILE = "initramfs-amd64.xz";
const AGENT =
  "customization:\n  systemExtensions:\n    officialExtensions:\n      - siderolabs/qemu-guest-agent\n";
const blocks = commandBlocks("docs/verify.md");
const hasCosign = spawnSync("cosign", ["version"]).status === 0;

let factory: TestFactory;
let id: string;
let dir: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(AGENT);
  dir = join(factory.dataDir, "verify");
  mkdirSync(dir);
}, 300_000);
afterAll(() => factory?.stop());

/** Not awaited synchronously: connections of this process must notice when the server closes them. */
function shell(commands: string): Promise<{ status: number; output: string }> {
  const env = {
    ...process.env,
    FACTORY: factory.url,
    ID: id,
    VERSION,
    FILE,
    HOST: new URL(factory.url).host,
  };
  return new Promise((resolve) => {
    execFile("bash", ["-euo", "pipefail", "-c", commands], { cwd: dir, env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    );
  });
}

const under = (heading: string) => blocks.filter((block) => block.heading === heading && block.needs === "");
const json = async (path: string, headers = {}) => (await fetch(factory.url + path, { headers })).json();

describe("docs/verify.md", () => {
  it.each(blocks.map((block, index) => [`${block.heading}, block ${index + 1}`, block] as const))(
    "%s",
    async (_, block) => {
      if (block.needs === "cosign" && !hasCosign) return;
      const { status, output } = await shell(block.commands);
      expect({ status, output }).toEqual({ status: 0, output: expect.any(String) });
    },
  );

  it("checks that fail when a byte of the file is changed", async () => {
    const file = join(dir, FILE);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const sums = await shell("sha256sum -c --ignore-missing SHA256SUMS");
    expect(sums.status).not.toBe(0);
    expect(sums.output).toContain(`${FILE}: FAILED`);
    const [signature] = under("Signature of a file");
    const openssl = await shell(signature?.commands ?? "exit 0");
    expect(openssl.status).not.toBe(0);
    expect(openssl.output).toMatch(/Verification failure/i);
    const cosign = blocks.find((block) => block.needs === "cosign" && block.commands.includes("verify-blob"));
    if (hasCosign) expect((await shell(cosign?.commands ?? "exit 0")).status).not.toBe(0);
  });

  it("checks that fail when a byte of an installer's signed payload is changed", async () => {
    const payload = readFileSync(join(dir, "payload.json"), "utf8");
    writeFileSync(join(dir, "payload.json"), payload.replace("sha256:", "sha256;"));
    const { status, output } = await shell(
      "openssl dgst -sha256 -verify signing-key.pub -signature payload.sig payload.json",
    );
    expect(status).not.toBe(0);
    expect(output).toMatch(/Verification failure/i);
  });
});

describe("SHA256SUMS", () => {
  const listed = async (schematic: string) =>
    (await (await fetch(`${factory.url}/image/${schematic}/${VERSION}/SHA256SUMS`)).text())
      .split("\n")
      .filter((line) => line !== "");

  it("lists what was asked for, builds nothing, and knows nothing of other schematics", async () => {
    const other = await factory.schematic("customization:\n  extraKernelArgs: [verify=1]\n");
    expect(await listed(other)).toEqual([]);
    expect(
      (await fetch(`${factory.url}/image/${other}/${VERSION}/metal-amd64.iso`, { method: "HEAD" })).status,
    ).toBe(200);
    const cmdline = Buffer.from(
      await (await fetch(`${factory.url}/image/${other}/${VERSION}/cmdline-metal-amd64`)).arrayBuffer(),
    );
    const sha256 = createHash("sha256").update(cmdline).digest("hex");
    expect(await listed(other)).toEqual([`${sha256}  cmdline-metal-amd64`]);
    expect((await listed(id)).map((line) => line.slice(66))).toEqual([FILE]);
  });

  it("refuses like the other asset routes", async () => {
    const unknown = await fetch(`${factory.url}/image/${"0".repeat(64)}/${VERSION}/SHA256SUMS`);
    expect(unknown.status).toBe(404);
    const version = await fetch(`${factory.url}/image/${id}/v9.9.9/SHA256SUMS`);
    expect([version.status, await version.text()]).toEqual([404, "version 9.9.9 is not available\n"]);
  });
});

describe("the evidence of an installer", () => {
  it("is found as referrers: signature and provenance of the index, contents of each platform", async () => {
    const repo = `/v2/installer/${id}`;
    const index = await fetch(`${factory.url}${repo}/manifests/${VERSION}`);
    const digest = index.headers.get("docker-content-digest");
    const types = async (subject: string | null) =>
      (await json(`${repo}/referrers/${subject}`)).manifests.map(
        (one: { annotations: Record<string, string> }) =>
          one.annotations["dev.sigstore.bundle.predicateType"],
      );
    expect((await types(digest)).sort()).toEqual([
      "https://sigstore.dev/cosign/sign/v1",
      "https://slsa.dev/provenance/v1",
    ]);
    for (const platform of (await index.json()).manifests)
      expect((await types(platform.digest)).sort()).toEqual([
        "https://sigstore.dev/cosign/sign/v1",
        "https://spdx.dev/Document/v2.3",
      ]);
  });

  it("names every input that the lock lists", async () => {
    const lock = await json(`/api/v1/models/${id}/${VERSION}/lock`);
    expect(lock.inputs.map((input: { kind: string }) => input.kind)).toEqual([
      "imager",
      "base-installer",
      "extension",
    ]);
    const plan = await json(`/api/v1/plan/${id}/${VERSION}/${FILE}`);
    const digests = lock.inputs.map((input: { digest: string }) => input.digest);
    for (const input of plan.plan.inputs) expect(digests).toContain(input.digest);
  });
});

describe("bills of materials", () => {
  it("follow Accept, and are made for releases that bring none where that is asked for", async () => {
    const accept = { accept: "application/spdx+json;q=0.5, application/vnd.cyclonedx+json" };
    expect((await json(`/spdx/${id}/${VERSION}/arm64`, accept)).bomFormat).toBe("CycloneDX");
    expect((await fetch(`${factory.url}/spdx/${id}/v1.9.5/amd64`)).status).toBe(400);
    const old = await json(`/api/v1/models/${id}/v1.9.5/sbom/amd64`);
    const [, base, agent] = old.packages;
    expect(base.comment).toBe(
      "The source has no bill of materials for this image; this record names the release only.",
    );
    expect(agent).toMatchObject({
      name: "siderolabs/qemu-guest-agent",
      comment: expect.stringContaining("its manifest"),
    });
  });
});
