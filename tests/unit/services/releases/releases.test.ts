import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ReleaseRecord } from "../../../../lib/domain/release-record.ts";
import type { ReleaseSource } from "../../../../lib/services/releases/list.ts";
import {
  type ClosableReleaseService,
  createReleaseService,
} from "../../../../lib/services/releases/releases.ts";
import { makeLayer } from "../../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../../fixtures/fake-registry.ts";
import { dropTag, memoryRepository, pushRelease, sourceFor } from "../../../fixtures/fake-source.ts";
import { failure, openSource, removeScratch, scratchFolder } from "../../../fixtures/source-images.ts";

let fake: FakeRegistry;
const opened: ClosableReleaseService[] = [];
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  for (const service of opened.splice(0)) await service.close();
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());

interface Opened {
  service: ClosableReleaseService;
  rows: Map<string, ReleaseRecord>;
  clock: { now: number };
  warnings: string[];
}

async function open(
  changes: Partial<ReleaseSource> = {},
  rows?: Map<string, ReleaseRecord>,
  clock = { now: Date.now() },
): Promise<Opened> {
  const { images } = await openSource(fake.url);
  const kept = memoryRepository(rows);
  const warnings: string[] = [];
  const service = createReleaseService({
    images,
    repository: kept.repository,
    source: sourceFor(fake, changes),
    log: { info: () => undefined, warn: (_fields, message) => void warnings.push(message) },
    now: () => clock.now,
  });
  opened.push(service);
  return { service, rows: kept.rows, clock, warnings };
}

/** The next reader after the list has become old starts a refresh; this waits for it. */
async function refresh({ service, clock }: Opened): Promise<void> {
  clock.now += 1001;
  await service.versions();
  await service.idle();
}

test("many names are looked for side by side without a warning of Node about a leak", async () => {
  const extensions = Array.from({ length: 12 }, (_, index) => `extension-${index}`);
  await pushRelease(fake, "v1.12.0", { extensions });
  await pushRelease(fake, "v1.13.0", { extensions });
  fake.switches.latencyMs = 20;
  const names: string[] = [];
  const onWarning = ({ name }: Error) => void names.push(name);
  process.on("warning", onWarning);
  const { service } = await open();
  await service.versions();
  await service.idle();
  process.off("warning", onWarning);
  // Node warns from the eleventh listener of one signal on.
  expect(fake.peak).toBeGreaterThan(10);
  expect(names).toEqual([]);
});

describe("a release", () => {
  test("is read with catalogs in their order, public references and pinned images", async () => {
    const { imager, lines } = await pushRelease(fake, "v1.13.2", { extensions: ["zfs", "gvisor"] });
    const { service } = await open();
    const release = await service.require("1.13.2");
    expect(release.imager).toEqual({ repository: "siderolabs/imager", digest: imager });
    expect(release.baseInstaller?.repository).toBe("siderolabs/installer-base");
    expect(release.extensions).toEqual(
      ["zfs", "gvisor"].map((name, index) => ({
        name: `siderolabs/${name}`,
        ref: `ghcr.io/siderolabs/${name}:1.0-v1.13.2`,
        digest: lines[index]?.split("@")[1],
        author: "Author",
        description: `${lines[index]?.length} letters\n`,
      })),
    );
    const overlays = await service.overlays("v1.13.2");
    expect(overlays.map(({ name, image, ref }) => [name, image, ref])).toEqual([
      ["rpi_generic", "siderolabs/sbc-raspberrypi", "ghcr.io/siderolabs/sbc-raspberrypi:v0.1-v1.13.2"],
      ["rpi_5", "siderolabs/sbc-raspberrypi", "ghcr.io/siderolabs/sbc-raspberrypi:v0.1-v1.13.2"],
    ]);
    expect(release.sample).toBe(false);
    expect(await service.require("v1.13.2")).toBe(release);
  });

  test("shows another public name when it is configured", async () => {
    await pushRelease(fake, "v1.13.2");
    const { service } = await open({ publicName: "mirror.example" });
    expect((await service.extensions("1.13.2"))[0]?.ref).toBe("mirror.example/siderolabs/gvisor:1.0-v1.13.2");
  });

  test("is a sample when the annotation says so, or the label of the configuration", async () => {
    await pushRelease(fake, "v1.12.0", { sample: true });
    await pushRelease(fake, "v1.13.0");
    const layers = [await makeLayer([{ name: "x", content: "label" }])];
    fake.push("siderolabs/imager", "v1.13.0", { layers, labels: { "io.casthouse.sample": "true" } });
    await pushRelease(fake, "v1.14.0");
    const { service } = await open();
    const samples = (await service.summaries()).map(({ version, sample }) => [version, sample]);
    expect(samples).toEqual([
      ["v1.14.0", false],
      ["v1.13.0", true],
      ["v1.12.0", true],
    ]);
  });

  test("below 1.7.0 has no overlays, whether it exists or not", async () => {
    await pushRelease(fake, "v1.6.0", { overlays: false });
    await pushRelease(fake, "v1.7.0");
    const { service } = await open();
    expect(await service.overlays("1.6.0")).toEqual([]);
    expect(await service.overlays("v1.5.99")).toEqual([]);
    expect((await service.overlays("1.7.0")).length).toBe(2);
    expect((await failure(service.overlays("1.8.0"))).message).toBe("version 1.8.0 is not available");
    expect((await service.require("1.6.0")).baseInstaller?.repository).toBe("siderolabs/installer");
  });

  test("that is not there is not_found, a text that is no version invalid_input", async () => {
    await pushRelease(fake, "v1.13.2");
    const { service } = await open();
    for (const text of ["v9.9.9", "9.9.9"]) {
      const error = await failure(service.require(text));
      expect([error.code, error.message]).toEqual(["not_found", "version 9.9.9 is not available"]);
    }
    expect((await failure(service.require("latest"))).code).toBe("invalid_input");
  });
});

describe("the list", () => {
  test("is filtered, sorted and lists broken releases apart", async () => {
    for (const tag of ["v1.9.10", "v1.9.9", "v1.1.0", "v1.12.0-beta.0", "v1.13.0-rc.1", "v1.10.0"]) {
      await pushRelease(fake, tag);
    }
    fake.push("siderolabs/imager", "sha256-abc.sig", { layers: [] });
    const { service } = await open({ brokenVersions: ["1.10.0", "v1.9.0"] });
    expect(await service.versions()).toEqual(["v1.9.9", "v1.9.10", "v1.13.0-rc.1"]);
    expect(service.brokenVersions()).toEqual(["v1.10.0", "v1.9.0"]);
    const states = (await service.summaries()).map(({ version, state }) => [version, state]);
    expect(states).toEqual([
      ["v1.13.0-rc.1", "complete"],
      ["v1.10.0", "broken"],
      ["v1.9.10", "complete"],
      ["v1.9.9", "complete"],
    ]);
    expect((await failure(service.require("1.10.0"))).message).toBe("version 1.10.0 is not available");
  });

  test.each([
    ["siderolabs/extensions", "siderolabs/extensions:v1.13.1"],
    ["siderolabs/overlays", "siderolabs/overlays:v1.13.1"],
    ["siderolabs/installer-base", "siderolabs/installer-base:v1.13.1"],
  ])("leaves out a release without its tag of %s until the tag is there", async (repository, missing) => {
    await pushRelease(fake, "v1.13.0");
    await pushRelease(fake, "v1.13.1");
    dropTag(fake, repository, "v1.13.1");
    const opened = await open();
    expect(await opened.service.versions()).toEqual(["v1.13.0"]);
    const [newest] = await opened.service.summaries();
    expect(newest).toMatchObject({ version: "v1.13.1", state: "incomplete", missing: [missing] });
    const error = await failure(opened.service.require("1.13.1"));
    expect(error.message).toBe("version 1.13.1 is not available");
    expect(error.extra.hint).toContain(missing);
    await pushRelease(fake, "v1.13.1");
    await refresh(opened);
    expect(await opened.service.versions()).toEqual(["v1.13.0", "v1.13.1"]);
  });

  test("leaves out a release whose catalog names an image that is not there", async () => {
    await pushRelease(fake, "v1.13.0");
    const { lines } = await pushRelease(fake, "v1.13.1", { extensions: ["gvisor", "lost"] });
    const digest = lines[1]?.split("@")[1] ?? "";
    fake.repository("siderolabs/lost").manifests.delete(digest);
    const opened = await open();
    expect(await opened.service.versions()).toEqual(["v1.13.0"]);
    const [newest] = await opened.service.summaries();
    expect(newest?.missing).toEqual([`siderolabs/lost@${digest}`]);
    await pushRelease(fake, "v1.13.1", { extensions: ["gvisor", "lost"] });
    await refresh(opened);
    expect(await opened.service.versions()).toEqual(["v1.13.0", "v1.13.1"]);
  });

  test("leaves out a release whose catalog cannot be read, and says why", async () => {
    await pushRelease(fake, "v1.13.0");
    await pushRelease(fake, "v1.13.1");
    const layers = [await makeLayer([{ name: "image-digests", content: "ghcr.io/a/b@sha256:12\n" }])];
    fake.push("siderolabs/extensions", "v1.13.1", { layers });
    const { service } = await open();
    expect(await service.versions()).toEqual(["v1.13.0"]);
    const error = await failure(service.require("1.13.1"));
    expect(error.code).toBe("source_invalid");
    expect(error.message).toContain("siderolabs/extensions@");
    expect(error.message).toContain("sha256:12");
  });

  test("offers releases of a source that has no installers and no overlay catalogs at all", async () => {
    await pushRelease(fake, "v1.13.0", { installer: false, overlays: false });
    const { service } = await open();
    expect(await service.versions()).toEqual(["v1.13.0"]);
    expect((await service.require("1.13.0")).baseInstaller).toBeNull();
    expect(await service.overlays("1.13.0")).toEqual([]);
  });
});

describe("a refresh", () => {
  test("happens for the next reader after refreshMs, once, while the old list is served", async () => {
    await pushRelease(fake, "v1.13.0");
    const opened = await open();
    const { service, clock } = opened;
    await service.versions();
    await service.idle();
    await pushRelease(fake, "v1.13.1");
    const asked = fake.count(/imager\/tags/);
    clock.now += 999;
    await service.versions();
    expect(fake.count(/imager\/tags/)).toBe(asked);
    clock.now += 2;
    fake.switches.latencyMs = 30;
    const lists = await Promise.all(Array.from({ length: 20 }, () => service.versions()));
    expect(lists.every((list) => list.join() === "v1.13.0")).toBe(true);
    await service.idle();
    expect(fake.count(/imager\/tags/)).toBe(asked + 1);
    expect(await service.versions()).toEqual(["v1.13.0", "v1.13.1"]);
  });

  test("notices a tag that was moved, and gives the same object while nothing moved", async () => {
    await pushRelease(fake, "v1.13.0");
    const opened = await open();
    const before = await opened.service.require("1.13.0");
    await refresh(opened);
    expect(await opened.service.require("1.13.0")).toBe(before);
    const { imager } = await pushRelease(fake, "v1.13.0", { seed: "other", extensions: ["gvisor"] });
    await refresh(opened);
    const after = await opened.service.require("1.13.0");
    expect(after.imager.digest).toBe(imager);
    expect(after.extensions.length).toBe(1);
  });

  test("drops a release that has gone", async () => {
    await pushRelease(fake, "v1.13.0");
    await pushRelease(fake, "v1.13.1");
    const opened = await open();
    expect((await opened.service.versions()).length).toBe(2);
    dropTag(fake, "siderolabs/imager", "v1.13.1");
    await refresh(opened);
    expect(await opened.service.versions()).toEqual(["v1.13.0"]);
    expect((await failure(opened.service.require("1.13.1"))).code).toBe("not_found");
  });
});

describe("without the registry", () => {
  test("the last list and its catalogs are served and the failure is told; it recovers alone", async () => {
    await pushRelease(fake, "v1.13.0");
    const opened = await open();
    const { service, clock } = opened;
    await service.versions();
    await service.idle();
    fake.switches.down = true;
    await refresh(opened);
    expect(await service.versions()).toEqual(["v1.13.0"]);
    expect((await service.extensions("1.13.0")).length).toBe(2);
    expect(service.status().failure).toContain("cannot fetch the tags of siderolabs/imager");
    expect(service.status().checkedAt?.getTime()).toBeLessThan(clock.now - 1000);
    fake.switches.down = false;
    await pushRelease(fake, "v1.13.1");
    await refresh(opened);
    expect(service.status().failure).toBeNull();
    expect(await service.versions()).toEqual(["v1.13.0", "v1.13.1"]);
  });

  test("a source whose tags are all gone is unavailable, and the last list is served and kept", async () => {
    await pushRelease(fake, "v1.13.0");
    const opened = await open();
    expect(await opened.service.versions()).toEqual(["v1.13.0"]);
    await opened.service.idle();
    dropTag(fake, "siderolabs/imager", "v1.13.0");
    await refresh(opened);
    expect(await opened.service.versions()).toEqual(["v1.13.0"]);
    expect(opened.service.status().failure).toContain("none of the 0 tags of siderolabs/imager");
    expect([...opened.rows.keys()]).toEqual(["v1.13.0"]);
  });

  test("a restart serves the kept list, incomplete ones with their reasons", async () => {
    await pushRelease(fake, "v1.13.0", { sample: true });
    await pushRelease(fake, "v1.13.1");
    dropTag(fake, "siderolabs/extensions", "v1.13.1");
    const first = await open();
    const summaries = await first.service.summaries();
    const release = await first.service.require("1.13.0");
    await first.service.close();
    fake.switches.down = true;
    const second = await open({}, first.rows, { now: first.clock.now + 60_000 });
    expect(await second.service.summaries()).toEqual(summaries);
    expect(await second.service.require("1.13.0")).toEqual(release);
    await second.service.idle();
    expect(second.service.status().failure).not.toBeNull();
    fake.switches.down = false;
    await pushRelease(fake, "v1.13.1");
    await refresh(second);
    expect(await second.service.versions()).toEqual(["v1.13.0", "v1.13.1"]);
  });

  test("a kept list of another registry is not served", async () => {
    await pushRelease(fake, "v1.13.0");
    const first = await open();
    await first.service.versions();
    await first.service.close();
    const rows = new Map(
      [...first.rows].map(([key, row]) => [key, { ...row, registry: "https://other.example" }]),
    );
    fake.switches.down = true;
    const second = await open({}, rows);
    expect((await failure(second.service.versions())).code).toBe("upstream_unavailable");
  });

  test("and without any list, readers get upstream_unavailable, and the registry is not asked by each of them", async () => {
    fake.switches.down = true;
    const { service, clock } = await open();
    const error = await failure(service.versions());
    expect(error.code).toBe("upstream_unavailable");
    expect(error.extra.retryAfterSeconds).toBeGreaterThan(0);
    const asked = fake.seen.length;
    await failure(service.require("1.13.0"));
    await failure(service.summaries());
    expect(fake.seen.length).toBe(asked);
    fake.switches.down = false;
    await pushRelease(fake, "v1.13.0");
    clock.now += 1001;
    expect(await service.versions()).toEqual(["v1.13.0"]);
  });

  test("a source without an imager is unavailable with a hint, not an empty list", async () => {
    const error = await failure((await open()).service.versions());
    expect(error.code).toBe("upstream_unavailable");
    expect(error.extra.hint).toContain("siderolabs/imager");
  });

  test("a broken database does not keep the releases away", async () => {
    await pushRelease(fake, "v1.13.0");
    const { images } = await openSource(fake.url);
    const broken = () => Promise.reject(new Error("no database"));
    const warnings: string[] = [];
    const service = createReleaseService({
      images,
      repository: { load: broken, find: broken, replaceAll: broken, update: broken },
      source: sourceFor(fake),
      log: { info: () => undefined, warn: (_fields, message) => void warnings.push(message) },
    });
    opened.push(service);
    expect(await service.versions()).toEqual(["v1.13.0"]);
    expect(warnings).toContain("the kept list of releases cannot be read");
  });
});

test("with SOURCE_VERIFY=key an unsigned release is not offered, and the reason is told", async () => {
  await pushRelease(fake, "v1.13.0");
  const file = join(await scratchFolder(), "cosign.pub");
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  await writeFile(file, publicKey.export({ type: "spki", format: "pem" }));
  const verify = { kind: "key" as const, file };
  const { images } = await openSource(fake.url, { verify });
  const { repository } = memoryRepository();
  const log = { info: () => undefined, warn: () => undefined };
  const service = createReleaseService({ images, repository, source: { ...sourceFor(fake), verify }, log });
  opened.push(service);
  expect(await service.versions()).toEqual([]);
  const error = await failure(service.require("1.13.0"));
  expect(error.code).toBe("source_invalid");
  expect(error.message).toMatch(
    /^the signature of siderolabs\/\w+@sha256:\w{64} is not verified: it has no signature$/,
  );
  expect(service.status().verification).toBe("key");
});

test("SOURCE_VERIFY=off is said at start", async () => {
  const { warnings, service } = await open();
  expect(warnings[0]).toContain("SOURCE_VERIFY is off");
  expect(service.status().verification).toBe("off");
});
