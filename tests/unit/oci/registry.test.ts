import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createRegistryClient } from "../../../lib/oci/registry-client.ts";
import { createRegistryPush } from "../../../lib/oci/registry-push.ts";
import { makeLayer, sha256 } from "../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../fixtures/fake-registry.ts";
import { failure, openSource, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

let fake: FakeRegistry;
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());

const REPOSITORY = "siderolabs/imager";
const layer = () => makeLayer([{ name: "a", content: "hello" }]);

describe("credentials", () => {
  test("asks for a token once per repository and sends it on", async () => {
    fake.switches.auth = "token";
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    fake.push("siderolabs/other", "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url);
    expect(await images.tags(REPOSITORY)).toEqual(["v1.0.0"]);
    expect(await images.findDigest(REPOSITORY, "v1.0.0")).toBe(image.digest);
    expect(fake.count(/token\?/)).toBe(1);
    expect(await images.tags("siderolabs/other")).toEqual(["v1.0.0"]);
    expect(fake.count(/scope=repository%3Asiderolabs%2Fother%3Apull/)).toBe(1);
  });

  test("joins callers that need the same token at the same time", async () => {
    fake.switches.auth = "token";
    fake.switches.latencyMs = 20;
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url);
    await Promise.all(Array.from({ length: 10 }, () => images.findDigest(REPOSITORY, "v1.0.0")));
    expect(fake.count(/token\?/)).toBe(1);
  });

  test("gets a new token when the old one has run out, and when the registry forgot it", async () => {
    fake.switches.auth = "token";
    fake.switches.tokenLifetimeSeconds = 100;
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    let now = Date.now();
    const clock = { now: () => now, random: () => 0, sleep: async () => undefined };
    const { images } = await openSource(fake.url, { clock });
    await images.tags(REPOSITORY);
    now += 89_000;
    await images.tags(REPOSITORY);
    expect(fake.count(/token\?/)).toBe(1);
    now += 2_000;
    await images.tags(REPOSITORY);
    expect(fake.count(/token\?/)).toBe(2);
    expect(fake.seen.filter((one) => one.server === "registry").length).toBe(4);
    fake.dropTokens();
    await images.tags(REPOSITORY);
    expect(fake.count(/token\?/)).toBe(3);
  });

  test("sends name and password to the token service and never to the registry", async () => {
    fake.switches.auth = "token";
    fake.switches.credentials = { username: "me", password: "s3cret:x" };
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url, { username: "me", password: "s3cret:x" });
    expect(await images.tags(REPOSITORY)).toEqual(["v1.0.0"]);
    const basic = `Basic ${Buffer.from("me:s3cret:x").toString("base64")}`;
    const servers = fake.seen.filter((one) => one.headers.authorization === basic).map((one) => one.server);
    expect(servers).toEqual(["tokens"]);
  });

  test("answers a Basic challenge, and says which settings to check when it is refused", async () => {
    fake.switches.auth = "basic";
    fake.switches.credentials = { username: "me", password: "right" };
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const good = await openSource(fake.url, { username: "me", password: "right" });
    expect(await good.images.tags(REPOSITORY)).toEqual(["v1.0.0"]);
    const bad = await openSource(fake.url, { username: "me", password: "wrong" });
    const error = await failure(bad.images.tags(REPOSITORY));
    expect(error.message).toBe(`cannot fetch the tags of ${REPOSITORY}: the registry answers 401`);
    expect(error.extra.hint).toContain("SOURCE_PASSWORD");
    expect(JSON.stringify(error)).not.toContain("wrong");
    const none = await failure((await openSource(fake.url)).images.tags(REPOSITORY));
    expect(none.extra.hint).toContain("wants credentials");
  });

  test("names the settings of the registry it asks, also when its token service refuses", async () => {
    const challenge = { "www-authenticate": 'Bearer realm="https://push.example/token"' };
    const answers = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(async (input) =>
        String(input).includes("/token")
          ? new Response(null, { status: 403 })
          : new Response(null, { status: 401, headers: challenge }),
      );
    onTestFinished(() => void answers.mockRestore());
    const push = createRegistryPush({ registry: "https://push.example", username: "me", password: "p" });
    const manifest = { mediaType: "m", bytes: new Uint8Array() };
    const pushing = push.putManifest("a/b", "v1", manifest, new AbortController().signal);
    const { hint = "" } = (await failure(pushing)).extra;
    expect(hint).toContain("INSTALLER_REGISTRY_PASSWORD");
    expect(hint).not.toContain("SOURCE_");
    const client = createRegistryClient({
      registry: "https://other.example",
      credentialSettings: "OTHER_FILE",
      fetch: async () => new Response(null, { status: 403 }),
    });
    expect((await failure(client.tags(REPOSITORY))).extra.hint).toContain("OTHER_FILE");
  });

  test("does not hand credentials to a plain token service of an https registry", async () => {
    const asked: string[] = [];
    const client = createRegistryClient({
      registry: "https://reg.example",
      username: "me",
      password: "p",
      fetch: async (input) => {
        asked.push(String(input));
        return new Response(null, {
          status: 401,
          headers: { "www-authenticate": 'Bearer realm="http://steal.example/token"' },
        });
      },
    });
    expect((await failure(client.tags(REPOSITORY))).message).toContain("unusable token service");
    expect(asked).toEqual(["https://reg.example/v2/siderolabs/imager/tags/list?n=1000"]);
  });

  /** A client of a registry whose token service gives these answers, one after another. */
  function clientWithTokens(answers: (() => Response)[]) {
    return createRegistryClient({
      registry: "https://reg.example",
      clock: { now: Date.now, random: () => 0, sleep: async () => undefined },
      fetch: async (input, init) => {
        if (String(input).startsWith("https://tokens.example/"))
          return answers.shift()?.() ?? Response.error();
        if (new Headers(init?.headers).has("authorization")) return Response.json({ tags: ["v1.13.2"] });
        const challenge = 'Bearer realm="https://tokens.example/token"';
        return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
      },
    });
  }

  test("asks again when the answer with the token breaks off", async () => {
    const broken = () =>
      new Response(new ReadableStream({ start: (c) => c.error(new TypeError("terminated")) }));
    const client = clientWithTokens([broken, () => Response.json({ token: "t" })]);
    expect(await client.tags(REPOSITORY)).toEqual(["v1.13.2"]);
  });

  test("stops reading an answer that is too large to hold a token", async () => {
    let sent = 0;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 65_536;
            controller.enqueue(new Uint8Array(65_536));
          },
        }),
      );
    expect((await failure(clientWithTokens([endless]).tags(REPOSITORY))).message).toContain("no token");
    expect(sent).toBeLessThan(1_000_000);
  });
});

describe("redirects", () => {
  test("are followed without credentials, ranges and digests included", async () => {
    fake.switches.auth = "token";
    fake.switches.redirectBlobs = true;
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url);
    const [descriptor] = image.layers;
    if (!descriptor) throw new Error("no layer");
    await images.blob(REPOSITORY, descriptor);
    const storage = fake.seen.filter((one) => one.server === "storage");
    expect(storage).toHaveLength(1);
    expect(storage[0]?.headers.authorization).toBeUndefined();
    expect(storage[0]?.headers.cookie).toBeUndefined();
    expect(storage[0]?.headers["accept-encoding"]).toBe("identity");
    expect(fake.seen.some((one) => one.server === "registry" && one.headers.authorization)).toBe(true);
  });

  test("do not let the other place ask for credentials", async () => {
    fake.switches.redirectBlobs = true;
    fake.switches.faults = [
      {
        match: /^storage /,
        status: 401,
        headers: { "www-authenticate": `Basic realm="give"` },
      },
    ];
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url, { username: "me", password: "p" });
    const [descriptor] = image.layers;
    if (!descriptor) throw new Error("no layer");
    expect((await failure(images.blob(REPOSITORY, descriptor))).message).toContain("storage answers 401");
    expect(fake.seen.every((one) => one.headers.authorization === undefined)).toBe(true);
  });

  test.each(["ftp://x.example/y", "file:///etc/passwd", "http://["])("refuse %s", async (target) => {
    fake.switches.redirectBlobs = true;
    fake.switches.redirectTo = target;
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const [descriptor] = image.layers;
    if (!descriptor) throw new Error("no layer");
    const { images } = await openSource(fake.url);
    expect((await failure(images.blob(REPOSITORY, descriptor))).message).toContain("not allowed");
  });

  test("never go from https to http, and end when they run in circles", async () => {
    const redirect = (location: string) => async () =>
      new Response(null, { status: 302, headers: { location } });
    const client = (location: string) =>
      createRegistryClient({ registry: "https://reg.example", fetch: redirect(location) });
    expect((await failure(client("http://reg.example/x").tags("a"))).message).toContain("not allowed");
    expect((await failure(client("/again").tags("a"))).message).toContain("in circles");
  });

  test("that leave and come back have lost the credentials", async () => {
    const sent: [string, string | null][] = [];
    const client = createRegistryClient({
      registry: "https://reg.example",
      username: "me",
      password: "p",
      fetch: async (input, init) => {
        const url = new URL(String(input));
        const authorization = new Headers(init?.headers).get("authorization");
        sent.push([url.href, authorization]);
        const go = (location: string) => new Response(null, { status: 307, headers: { location } });
        if (url.host === "evil.example") return go("https://reg.example/v2/back");
        if (url.pathname === "/v2/back") return new Response("{}", { status: 404 });
        if (authorization === null) {
          return new Response(null, { status: 401, headers: { "www-authenticate": "Basic realm=x" } });
        }
        return go("https://me:p@evil.example/away");
      },
    });
    await failure(client.tags("a"));
    expect(sent.map(([, authorization]) => authorization !== null)).toEqual([false, true, false, false]);
    expect(sent[2]?.[0]).toBe("https://evil.example/away");
  });
});

describe("requests that fail", () => {
  test("are tried again after 429, 503 and broken connections, and Retry-After is waited for", async () => {
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    fake.switches.faults = [
      { match: /tags/, times: 1, status: 429, headers: { "retry-after": "3" } },
      { match: /tags/, times: 1, status: 503 },
      { match: /tags/, times: 1, status: 500 },
    ];
    const { images, pauses } = await openSource(fake.url);
    expect(await images.tags(REPOSITORY)).toEqual(["v1.0.0"]);
    expect(pauses).toEqual([3000, 450, 900]);
  });

  test("end with upstream_unavailable that names the thing, the reason and when to come back", async () => {
    fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    fake.switches.faults = [{ match: /tags/, status: 429, headers: { "retry-after": "7" } }];
    const { images, pauses } = await openSource(fake.url);
    const error = await failure(images.tags(REPOSITORY));
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).toBe(`cannot fetch the tags of ${REPOSITORY}: the registry answers 429`);
    expect(error.extra.retryAfterSeconds).toBe(7);
    expect(pauses).toHaveLength(4);
    fake.switches.faults = [{ match: /tags/, status: 429, headers: { "retry-after": "4000" } }];
    const long = await failure(images.tags(REPOSITORY));
    expect(long.extra.retryAfterSeconds).toBe(4000);
    expect(pauses).toHaveLength(4);
  });

  test("say that the registry cannot be reached", async () => {
    const closed = await FakeRegistry.start();
    await closed.stop();
    const { images, pauses } = await openSource(closed.url);
    const error = await failure(images.findDigest(REPOSITORY, "v1"));
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).toContain("cannot be reached");
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.extra.retryAfterSeconds).toBeGreaterThan(0);
    expect(pauses).toHaveLength(4);
  });

  test("give up when no answer comes in time", async () => {
    fake.switches.latencyMs = 400;
    const retry = { attempts: 2, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 };
    const { images } = await openSource(fake.url, { headersTimeoutMs: 50, retry });
    expect((await failure(images.tags(REPOSITORY))).message).toContain("no answer in time");
  });

  test("stop at once when the caller leaves", async () => {
    fake.switches.latencyMs = 5_000;
    const { images } = await openSource(fake.url);
    const startedAt = Date.now();
    const error = await failure(images.tags(REPOSITORY, AbortSignal.timeout(50)));
    expect(error.code).toBe("cancelled");
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  test("of a repository that is not there are not_found, of a tag null", async () => {
    const { images, pauses } = await openSource(fake.url);
    expect((await failure(images.tags("no/where"))).message).toBe(`no/where does not exist in ${fake.url}`);
    expect(await images.resolveTag("no/where", "v1")).toBeNull();
    expect(pauses).toEqual([]);
  });

  test("are not sent at all for names that could change the address", async () => {
    const { images } = await openSource(fake.url);
    for (const repository of ["../x", "a/../b", "a?b", "A", "a/", ""]) {
      expect((await failure(images.tags(repository))).code).toBe("invalid_input");
    }
    for (const tag of ["../x", "a/b", "", "a?b", "sha256:12"]) {
      expect((await failure(images.findDigest("a", tag))).code).toBe("invalid_input");
    }
    expect(fake.seen).toEqual([]);
  });
});

describe("tags and manifests", () => {
  test("follow pages through a proxy that names another host", async () => {
    fake.switches.auth = "token";
    fake.switches.pageSize = 3;
    const all = Array.from({ length: 10 }, (_, index) => `v1.${index}.0`);
    for (const tag of all) fake.push(REPOSITORY, tag, { layers: [] });
    const { images } = await openSource(fake.url);
    expect(await images.tags(REPOSITORY)).toEqual(all);
    expect(fake.count(/tags\/list/)).toBe(5);
  });

  test("end where a registry lists tags for ever", async () => {
    let pages = 0;
    const client = createRegistryClient({
      registry: "https://reg.example",
      fetch: async () => {
        pages += 1;
        const tags = Array.from({ length: 20_000 }, (_, index) => `t${pages}-${index}`);
        return Response.json(
          { tags },
          { headers: { link: `</v2/a/tags/list?n=1&last=${pages}>; rel="next"` } },
        );
      },
    });
    expect((await failure(client.tags("a"))).message).toContain("more than 100000 tags");
    expect(pages).toBe(6);
  });

  test("put a path prefix between /v2/ and the repository", async () => {
    const image = fake.push("ghcr/siderolabs/imager", "v1.0.0", { layers: [await layer()] });
    for (const base of ["/ghcr", "/ghcr/", "/v2/ghcr"]) {
      const { images } = await openSource(fake.url + base);
      expect(await images.tags(REPOSITORY)).toEqual(["v1.0.0"]);
      expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    }
    fake.switches.auth = "token";
    await (await openSource(`${fake.url}/ghcr`)).images.tags(REPOSITORY);
    expect(fake.count(/scope=repository%3Aghcr%2Fsiderolabs%2Fimager%3Apull/)).toBe(1);
  });

  test.each(["ghcr.io", "ftp://ghcr.io", "https://u:p@ghcr.io", "https://ghcr.io/?x", "https://ghcr.io/A"])(
    "refuse %s as a registry address",
    async (registry) => {
      const error = await failure(openSource(registry));
      expect(error.code).toBe("invalid_input");
      expect(error.message).toContain(registry);
    },
  );

  test("know a digest without HEAD and without the digest header", async () => {
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    fake.switches.head = false;
    const { images } = await openSource(fake.url);
    expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    fake.switches.head = true;
    fake.switches.digestHeader = false;
    expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
  });

  test.each([false, true])(
    "follow an index to linux/<arch> and pass over attestations (docker: %s)",
    async (docker) => {
      const shape = {
        layers: [await layer()],
        arches: ["amd64", "arm64"],
        docker,
        indexAnnotations: { a: "1" },
      };
      const image = fake.push(REPOSITORY, "v1.0.0", shape);
      const { images } = await openSource(fake.url);
      const amd64 = await images.platformManifest(REPOSITORY, image.digest, "amd64");
      const arm64 = await images.platformManifest(REPOSITORY, image.digest, "arm64");
      expect(amd64.digest).not.toBe(arm64.digest);
      expect(amd64.annotations).toEqual({ a: "1" });
      const error = await failure(images.platformManifest(REPOSITORY, image.digest, "riscv64"));
      expect(error.code).toBe("not_found");
      expect(error.message).toContain("linux/riscv64 (it has amd64, arm64)");
    },
  );

  test.each([false, true])("take a single manifest as it is (docker: %s)", async (docker) => {
    const image = fake.push(REPOSITORY, "v1.0.0", {
      layers: [await layer()],
      docker,
      annotations: { b: "2" },
    });
    const { images } = await openSource(fake.url);
    const found = await images.platformManifest(REPOSITORY, image.digest, "arm64");
    expect(found.digest).toBe(image.digest);
    expect(found.annotations).toEqual({ b: "2" });
  });

  test("keep manifests by digest, so that they are there while the registry is away", async () => {
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()], arches: ["amd64"] });
    const cacheDir = await scratchFolder();
    await (await openSource(fake.url, { cacheDir })).images.platformManifest(
      REPOSITORY,
      image.digest,
      "amd64",
    );
    fake.switches.down = true;
    const { images } = await openSource(fake.url, { cacheDir });
    expect((await images.platformManifest(REPOSITORY, image.digest, "amd64")).manifest.layers).toEqual(
      image.layers,
    );
  });

  test("refuse bytes with another digest, two kinds at once, and more than 8 MiB", async () => {
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [await layer()] });
    const { images } = await openSource(fake.url);
    fake.switches.faults = [{ match: /manifests/, times: 1, body: Buffer.from('{"schemaVersion":2}') }];
    const wrong = await failure(images.platformManifest(REPOSITORY, image.digest, "amd64"));
    expect(wrong.code).toBe("source_invalid");
    expect(wrong.message).toContain(`instead of ${image.digest}`);
    fake.switches.faults = [{ match: /manifests/, times: 1, body: Buffer.alloc(8 * 1024 * 1024 + 1, 32) }];
    expect((await failure(images.platformManifest(REPOSITORY, image.digest, "amd64"))).code).toBe(
      "too_large",
    );
    const both = Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [], config: {}, layers: [] }));
    fake.repository(REPOSITORY).manifests.set(sha256(both), { mediaType: "x/y", bytes: both });
    const twofold = await failure(images.platformManifest(REPOSITORY, sha256(both), "amd64"));
    expect(twofold.message).toContain("an index and an image at once");
  });
});
