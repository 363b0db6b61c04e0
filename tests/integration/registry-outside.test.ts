/** Installers in a registry outside: pushed with a password, signed before their tag is there, and pulled from there. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { type PublicFront, startPublicFront } from "../fixtures/public-front.ts";
import { startRegistry, type TestRegistry } from "../fixtures/registry.ts";

const execute = promisify(execFile);
const VERSION = "v1.13.2";
const HTPASSWD = "factory:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
const ACCEPT = {
  accept: "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json",
};

let registry: TestRegistry;
let front: PublicFront;
let factory: TestFactory;
let repository: string;
let digest: string;
/** The index as the factory itself gave it. */
let index: { manifests: { digest: string }[] };

beforeAll(async () => {
  registry = await startRegistry({ htpasswd: HTPASSWD });
  front = await startPublicFront(registry.url, "factory:secret");
  factory = await startTestFactory({
    sample: { tags: [VERSION] },
    environment: {
      INSTALLER_REGISTRY: `${front.url}/mirror`,
      INSTALLER_REGISTRY_USERNAME: "factory",
      INSTALLER_REGISTRY_PASSWORD: "secret",
    },
  });
  repository = `metal-installer/${await factory.schematic("customization: {}")}`;
}, 420_000);
afterAll(async () => {
  await factory?.stop();
  await front?.stop();
  await registry?.stop();
});

const ask = (path: string, method = "GET") =>
  fetch(`${factory.url}/v2/${repository}/${path}`, { method, headers: ACCEPT, redirect: "manual" });
const there = (path: string) => `${front.url}/v2/mirror/${repository}/${path}`;
const locationOf = async (path: string, method = "GET") => {
  const answer = await ask(path, method);
  return [answer.status, answer.headers.get("location")];
};
const sha256 = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

describe("a registry outside", () => {
  test("gets what the first pull made, while that pull is served from here", async () => {
    const first = await ask(`manifests/${VERSION}`);
    expect(first.status).toBe(200);
    digest = first.headers.get("docker-content-digest") ?? "";
    index = JSON.parse(await first.text());
    await vi.waitFor(
      async () =>
        expect(await locationOf(`manifests/${VERSION}`)).toEqual([307, there(`manifests/${digest}`)]),
      { timeout: 60_000, interval: 250 },
    );
  });

  test("takes nothing without the password", async () => {
    expect((await fetch(there("blobs/uploads/"), { method: "POST" })).status).toBe(401);
  });

  test("has the signatures before the tag", () => {
    const pushed = front.log.filter((line) => line.startsWith("PUT /") && line.includes("/manifests/"));
    const names = [...new Set(pushed)].map((line) => line.slice(line.lastIndexOf("/") + 1));
    expect(names.at(-1)).toBe(VERSION);
    expect(names).toContain(`${digest.replace(":", "-")}.sig`);
    for (const one of index.manifests) expect(names).toContain(one.digest);
  });

  test("holds the same signature, and the statements under the tag for older registries", async () => {
    const signature = `manifests/${digest.replace(":", "-")}.sig`;
    expect((await locationOf(signature))[0]).toBe(307);
    const outside = await (await fetch(there(signature), { headers: ACCEPT })).json();
    expect(outside.layers[0].annotations["dev.cosignproject.cosign/signature"]).toMatch(/^[A-Za-z0-9+/]+=*$/);
    const fallback = await fetch(there(`manifests/${digest.replace(":", "-")}`), { headers: ACCEPT });
    const listed = await (await ask(`referrers/${digest}`)).json();
    expect(await fallback.json()).toEqual(listed);
    expect(listed.manifests.length).toBeGreaterThanOrEqual(2);
  });

  test("serves HEAD, digests, latest and blobs", async () => {
    const image = index.manifests[0]?.digest ?? "";
    expect(await locationOf(`manifests/${image}`)).toEqual([307, there(`manifests/${image}`)]);
    expect(await locationOf(`manifests/${VERSION}`, "HEAD")).toEqual([307, there(`manifests/${digest}`)]);
    expect(await locationOf("manifests/latest")).toEqual([307, there(`manifests/${digest}`)]);
    const { layers } = await (await fetch(there(`manifests/${image}`), { headers: ACCEPT })).json();
    const blob = `blobs/${layers[0].digest}`;
    expect(await locationOf(blob)).toEqual([307, there(blob)]);
    expect((await ask(`blobs/sha256:${"0".repeat(64)}`)).status).toBe(404);
  });

  test("is where skopeo takes everything from", async () => {
    front.log.length = 0;
    const target = join(factory.dataDir, "copy");
    const from = `docker://${new URL(factory.url).host}/${repository}:${VERSION}`;
    await execute("skopeo", ["copy", "--all", "--quiet", "--src-tls-verify=false", from, `oci:${target}:x`]);
    const names = await readdir(join(target, "blobs/sha256"));
    for (const name of names)
      expect(sha256(await readFile(join(target, "blobs/sha256", name)))).toBe(`sha256:${name}`);
    const read = front.log.filter((line) => line.startsWith("GET "));
    for (const name of names) expect(read.some((line) => line.endsWith(`/sha256:${name}`))).toBe(true);
  });

  test("never hears of a schematic with a machine configuration", async () => {
    const text =
      "customization:\n  embeddedMachineConfiguration: |\n    apiVersion: v1alpha1\n    kind: HostnameConfig\n    hostname: w1\n";
    const id = await factory.schematic(text);
    for (const path of [`manifests/${VERSION}`, `manifests/${VERSION}`]) {
      const answer = await fetch(`${factory.url}/v2/metal-installer/${id}/${path}`, {
        headers: ACCEPT,
        redirect: "manual",
      });
      expect(answer.status).toBe(200);
    }
    expect(front.log.filter((line) => line.includes(id))).toEqual([]);
  });

  test("is not needed: while it is away or wants a password, pulls are served from here", async () => {
    for (const fault of ["down", "private"] as const) {
      front.switches[fault] = true;
      await vi.waitFor(async () => expect((await ask(`manifests/${VERSION}`)).status).toBe(200), {
        timeout: 20_000,
        interval: 250,
      });
      front.switches[fault] = false;
      await vi.waitFor(async () => expect((await ask(`manifests/${VERSION}`)).status).toBe(307), {
        timeout: 30_000,
        interval: 250,
      });
    }
  });
});
