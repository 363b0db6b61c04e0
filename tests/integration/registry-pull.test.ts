/** Pulls as people do it: skopeo and plain HTTP against the whole factory on the sample release. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const execute = promisify(execFile);
const VERSION = "v1.13.2";
const EXTENSIONS = "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}";

let factory: TestFactory;
let id = "";
beforeAll(async () => {
  factory = await startTestFactory({ sample: { tags: [VERSION] } });
  id = await factory.schematic(EXTENSIONS);
}, 420_000);
afterAll(() => factory?.stop());

const skopeo = async (...args: string[]): Promise<string> =>
  (await execute("skopeo", args, { maxBuffer: 16 * 1024 * 1024 })).stdout;
const reference = (image: string, tag: string) => `docker://${new URL(factory.url).host}/${image}:${tag}`;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${factory.url}${path}`, { headers, method });
const sha256 = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const builds = async (): Promise<number> =>
  (await (await get("/api/v1/builds?limit=200")).json()).builds.length;

describe("an installer", () => {
  test("is copied whole by skopeo, both platforms, and the second time without a build", async () => {
    const copy = (name: string) =>
      skopeo(
        ...["copy", "--all", "--quiet", "--src-tls-verify=false"],
        reference(`metal-installer/${id}`, VERSION),
        `oci:${join(factory.dataDir, name)}:x`,
      );
    await copy("first");
    const before = await builds();
    const started = performance.now();
    await copy("second");
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(await builds()).toBe(before);
    const blobs = await readdir(join(factory.dataDir, "first/blobs/sha256"));
    expect(await readdir(join(factory.dataDir, "second/blobs/sha256"))).toEqual(blobs);
    // Index, two manifests, two configurations, two layers of our own, two of the base.
    expect(blobs).toHaveLength(9);
    for (const name of blobs)
      expect(sha256(await readFile(join(factory.dataDir, "first/blobs/sha256", name)))).toBe(
        `sha256:${name}`,
      );
  });

  test("is the newest stable one under latest, and says what it is made of", async () => {
    const inspect = async (tag: string) =>
      JSON.parse(
        await skopeo("inspect", "--no-tags", "--tls-verify=false", reference(`metal-installer/${id}`, tag)),
      );
    const latest = await inspect("latest");
    expect(latest).toMatchObject({
      Architecture: "amd64",
      Os: "linux",
      Digest: (await inspect(VERSION)).Digest,
    });
    expect(latest.Labels).toMatchObject({
      "io.casthouse.schematic": id,
      "io.casthouse.version": VERSION,
      "io.casthouse.platform": "metal",
      "io.casthouse.sample": "true",
      "io.casthouse.source.extensions": expect.stringMatching(
        /^siderolabs\/qemu-guest-agent@sha256:[0-9a-f]{64}$/,
      ),
    });
  });

  test("holds the same bytes as the file", async () => {
    const file = await factory.fetch(`/image/${id}/${VERSION}/installer-amd64.tar`);
    const archive = JSON.parse(await skopeo("inspect", `docker-archive:${file}`));
    const image = JSON.parse(
      await skopeo("inspect", "--no-tags", "--tls-verify=false", reference(`metal-installer/${id}`, VERSION)),
    );
    expect(archive.Layers).toHaveLength(2);
    expect({ ...archive, Digest: "", Name: "", Layers: [], LayersData: [] }).toEqual({
      ...{ ...image, Digest: "", Layers: [], LayersData: [] },
      Name: "",
    });
    expect((await stat(file)).size).toBeGreaterThan(1_000_000);
  });
});

describe("HTTP", () => {
  const repository = () => `/v2/metal-installer/${id}`;
  const manifest = async (tag: string) => (await get(`${repository()}/manifests/${tag}`)).json();

  test("HEAD says what GET gives", async () => {
    const index = await manifest(VERSION);
    const image = await manifest(index.manifests[0].digest);
    for (const path of [
      `manifests/${VERSION}`,
      `manifests/${index.manifests[1].digest}`,
      `blobs/${image.config.digest}`,
      `blobs/${image.layers[1].digest}`,
      `referrers/${index.manifests[0].digest}`,
    ]) {
      const head = await get(`${repository()}/${path}`, {}, "HEAD");
      const whole = await get(`${repository()}/${path}`);
      const bytes = Buffer.from(await whole.arrayBuffer());
      const facts = (reply: Response) =>
        [
          "content-type",
          "content-length",
          "docker-content-digest",
          "docker-distribution-api-version",
          "etag",
        ].map((name) => reply.headers.get(name));
      expect([head.status, ...facts(head)]).toEqual([200, ...facts(whole)]);
      expect(head.headers.get("content-length")).toBe(String(bytes.length));
      expect(head.headers.get("docker-content-digest")).toBe(sha256(bytes));
      expect(head.headers.get("docker-distribution-api-version")).toBe("registry/2.0");
    }
  });

  test("goes on with a blob where a connection broke", async () => {
    const image = await manifest((await manifest(VERSION)).manifests[0].digest);
    const { digest, size } = image.layers[1];
    const path = `${repository()}/blobs/${digest}`;
    const first = await get(path, { range: "bytes=0-99999" });
    expect([first.status, first.headers.get("content-range")]).toEqual([206, `bytes 0-99999/${size}`]);
    const rest = await get(path, { range: "bytes=100000-", "if-range": first.headers.get("etag") ?? "" });
    expect(rest.status).toBe(206);
    const bytes = Buffer.concat([
      Buffer.from(await first.arrayBuffer()),
      Buffer.from(await rest.arrayBuffer()),
    ]);
    expect(sha256(bytes)).toBe(digest);
    expect((await get(path, { range: `bytes=${size}-` })).status).toBe(416);
  });

  test("refuses to be written to, and says what it allows", async () => {
    for (const [method, path] of [
      ["POST", "blobs/uploads/"],
      ["PUT", `manifests/${VERSION}`],
      ["PATCH", "blobs/uploads/x"],
      ["DELETE", `manifests/${VERSION}`],
    ] as const) {
      const reply = await get(`${repository()}/${path}`, {}, method);
      expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });

  test("answers strange paths with an error object", async () => {
    for (const path of ["/v2/nope", "/v2/a/b/c/manifests/v1", `${repository()}/manifests/%00`]) {
      const reply = await get(path);
      expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "application/json"]);
      expect((await reply.json()).errors[0]).toMatchObject({ code: "NAME_UNKNOWN" });
    }
    for (const path of ["/v2", "/v2/"]) {
      const reply = await get(path);
      expect([reply.status, await reply.text()]).toEqual([200, ""]);
    }
  });

  test("refuses as docs/registry.md says, and builds nothing meanwhile", async () => {
    const wanting = (what: string) => factory.schematic(`customization: {systemExtensions: ${what}}`);
    const missing = await wanting("{officialExtensions: [siderolabs/no-such-extension]}");
    const board = await factory.schematic("overlay: {image: siderolabs/no-such-board, name: nothing}");
    const [nobody, digest] = ["0".repeat(64), `sha256:${"0".repeat(64)}`];
    const ofVersion = "is not available for Talos version v1.13.2";
    const refusals: [path: string, status: number, code: string, message: string][] = [
      ["a/b", 404, "NAME_UNKNOWN", 'unknown registry path: "/a/b"'],
      [`installer/${nobody}/manifests/${VERSION}`, 404, "NAME_UNKNOWN", `schematic ID "${nobody}" not found`],
      [`installer/no-id/manifests/${VERSION}`, 404, "NAME_UNKNOWN", 'schematic ID "no-id" not found'],
      [`foo/${id}/manifests/${VERSION}`, 400, "NAME_INVALID", "invalid image: foo"],
      [`foo-installer/${id}/manifests/${VERSION}`, 400, "UNSUPPORTED", 'platform "foo" is not known'],
      ["siderolabs/foo/manifests/v1", 404, "NAME_UNKNOWN", "unknown image: foo"],
      [
        ...([`installer/${id}/manifests/v1.99.0`, 404, "MANIFEST_UNKNOWN"] as const),
        "error enhancing profile from schematic: failed to get base installer: version 1.99.0 is not available",
      ],
      [`installer/${id}/manifests/foo`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
      [`installer/${id}/manifests/${digest}`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
      [`installer/${id}/blobs/${digest}`, 404, "BLOB_UNKNOWN", "blob unknown to registry"],
      [`installer/${id}/manifests/sha256:zz`, 404, "DIGEST_INVALID", "invalid digest: sha256:zz"],
      [`installer/${id}/referrers/zz`, 404, "DIGEST_INVALID", "invalid referrers subject digest: zz"],
      [
        ...([`installer/${missing}/manifests/${VERSION}`, 400, "UNSUPPORTED"] as const),
        `error enhancing profile from schematic: official extension "siderolabs/no-such-extension" ${ofVersion}`,
      ],
      [
        ...([`installer/${board}/manifests/${VERSION}`, 400, "UNSUPPORTED"] as const),
        `error enhancing profile from schematic: official overlay "nothing" ${ofVersion}`,
      ],
      [`installer/${id}/tags/list?n=x`, 400, "NAME_INVALID", "the number of tags to list is not a number"],
    ];
    const before = await builds();
    for (const [path, status, code, message] of refusals) {
      const reply = await get(`/v2/${path}`);
      const { errors } = await reply.json();
      expect([path, reply.status, errors[0].code, errors[0].message]).toEqual([path, status, code, message]);
      expect(errors[0].detail.requestId).toBe(reply.headers.get("x-request-id"));
    }
    expect(await builds()).toBe(before);
  });

  test("passes images of the source on, for skopeo too", async () => {
    const target = `oci:${join(factory.dataDir, "mirrored")}:x`;
    const image = reference("siderolabs/installer-base", VERSION);
    await skopeo("copy", "--all", "--quiet", "--src-tls-verify=false", image, target);
    const here = await get(`/v2/siderolabs/installer-base/manifests/${VERSION}`);
    const there = await fetch(`${factory.registryUrl}/v2/siderolabs/installer-base/manifests/${VERSION}`, {
      headers: { accept: "application/vnd.oci.image.index.v1+json" },
    });
    expect(await here.text()).toBe(await there.text());
    expect(await (await get("/v2/siderolabs/installer-base/tags/list")).json()).toEqual({
      name: "siderolabs/installer-base",
      tags: [VERSION],
    });
  });

  test("lists talosctl and sends it, name and length exact", async () => {
    const urls: string[] = await (await get(`/talosctl/${VERSION}`)).json();
    expect(urls).toEqual([...urls].sort());
    const url = urls.find((one) => one.endsWith("/talosctl-linux-amd64")) ?? "";
    const path = new URL(url).pathname;
    const [head, whole] = [await get(path, {}, "HEAD"), await get(path)];
    expect(whole.headers.get("content-disposition")).toBe('attachment; filename="talosctl-linux-amd64"');
    const { byteLength } = await whole.arrayBuffer();
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(byteLength)]);
    expect((await get(`/talosctl/${VERSION}/passwd`)).status).toBe(404);
    expect((await get(`/talosctl/${VERSION}`, {}, "HEAD")).status).toBe(405);
  });
});
