import { mkdir, readFile, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { AppError } from "../../../lib/errors/app-error.ts";
import { tufTrustRoot } from "../../../lib/oci/trust-root.ts";
import { SIGSTORE } from "../../../lib/oci/trust-state.ts";
import { signedBundle } from "../../fixtures/keyless-signing.ts";
import { KeylessWorld, REPOSITORY } from "../../fixtures/keyless-world.ts";
import { createPrivateSigstore } from "../../fixtures/private-sigstore.ts";
import { PrivateTuf } from "../../fixtures/private-tuf.ts";
import { failure, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

const HOUR_MS = 3_600_000;
let tuf: PrivateTuf;
let world: KeylessWorld;
beforeAll(async () => {
  tuf = await PrivateTuf.start();
  world = await KeylessWorld.start();
});
afterEach(async () => {
  tuf.down = false;
  tuf.seen.length = 0;
  world.fake.reset();
  vi.restoreAllMocks();
  await removeScratch();
});
afterAll(async () => {
  await tuf.stop();
  await world.fake.stop();
});

interface Clock {
  now: number;
}

/** A process that asks the private repository; several with one folder share what is kept. */
async function open(folder: string, clock: Clock = { now: Date.now() }) {
  const rootFile = join(folder, "root.json");
  await mkdir(folder, { recursive: true });
  await tuf.writeRoot(rootFile);
  const warnings: string[] = [];
  const root = tufTrustRoot({
    source: { url: tuf.url, rootFile },
    stateFile: join(folder, "cache", "trust-root.json"),
    onWarning: (message) => void warnings.push(message),
    now: () => clock.now,
  });
  return { root, warnings };
}

const logIdOf = async (root: { material(): Promise<{ tlogs: { logID: Buffer }[] }> }) =>
  (await root.material()).tlogs[0]?.logID.toString("hex");

describe("the trust root by TUF", () => {
  test("is asked for once, kept, and taken from there by the next process", async () => {
    tuf.publish(world.sigstore.trustedRoot(), 1);
    const folder = await scratchFolder();
    const { root, warnings } = await open(folder);
    expect(tuf.seen).toEqual([]);
    const materials = await Promise.all([root.material(), root.material()]);
    expect(materials[0]).toBe(materials[1]);
    expect(tuf.seen.filter((path) => path === "/timestamp.json")).toHaveLength(1);
    const asked = tuf.seen.length;
    await root.material();
    const { root: again } = await open(folder);
    expect(await logIdOf(again)).toBe(materials[0].tlogs[0]?.logID.toString("hex"));
    expect(tuf.seen).toHaveLength(asked);
    expect(warnings).toEqual([]);
  });

  test("is asked for again after a day, and keys that are new then are used", async () => {
    const folder = await scratchFolder();
    const clock = { now: Date.now() };
    tuf.publish(world.sigstore.trustedRoot(), 1);
    const { root } = await open(folder, clock);
    const before = await logIdOf(root);
    tuf.publish(createPrivateSigstore().trustedRoot(), 2);
    clock.now += 23 * HOUR_MS;
    expect(await logIdOf(root)).toBe(before);
    clock.now += 2 * HOUR_MS;
    expect(await logIdOf(root)).not.toBe(before);
  });

  test("is the kept one while the repository is away, however old, and that is said", async () => {
    const folder = await scratchFolder();
    const clock = { now: Date.now() };
    tuf.publish(world.sigstore.trustedRoot(), 1);
    const before = await logIdOf((await open(folder, clock)).root);
    tuf.down = true;
    clock.now += 1000 * HOUR_MS;
    const { root, warnings } = await open(folder, clock);
    expect(await logIdOf(root)).toBe(before);
    expect(warnings).toEqual([expect.stringMatching(/cannot be brought up to date; the one of .* is used/)]);
    const asked = tuf.seen.length;
    await root.material();
    expect(tuf.seen).toHaveLength(asked);
  });

  test("is not set back to an older version, nor taken when it has expired", async () => {
    const folder = await scratchFolder();
    const clock = { now: Date.now() };
    tuf.publish(world.sigstore.trustedRoot(), 2);
    const before = await logIdOf((await open(folder, clock)).root);
    for (const publish of [
      () => tuf.publish(world.stranger.trustedRoot(), 1),
      () => tuf.publish(world.stranger.trustedRoot(), 3, new Date(Date.now() - HOUR_MS)),
    ]) {
      publish();
      clock.now += 25 * HOUR_MS;
      const { root, warnings } = await open(folder, clock);
      expect(await logIdOf(root)).toBe(before);
      expect(warnings).toHaveLength(1);
    }
  });

  test("that cannot be had is a failure that says what to do, and the next try is later", async () => {
    tuf.down = true;
    const clock = { now: Date.now() };
    const { root } = await open(await scratchFolder(), clock);
    const error = await failure(root.material());
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).toContain(`the trust root for signatures cannot be had from ${tuf.url}: `);
    expect(error.extra.hint).toContain("or set SOURCE_TRUST_ROOT to a trusted_root.json");
    const asked = tuf.seen.length;
    await failure(root.material());
    expect(tuf.seen).toHaveLength(asked);
    tuf.down = false;
    tuf.publish(world.sigstore.trustedRoot(), 1);
    clock.now += 11 * 60_000;
    expect(await logIdOf(root)).toBeDefined();
  });

  test("that is damaged on disk is asked for again", async () => {
    const folder = await scratchFolder();
    tuf.publish(world.sigstore.trustedRoot(), 1);
    const before = await logIdOf((await open(folder)).root);
    const kept = join(folder, "cache", "trust-root.json");
    await writeFile(kept, (await readFile(kept, "utf8")).slice(0, 500));
    expect(await logIdOf((await open(folder)).root)).toBe(before);
  });
});

/** Every connection of this process from now on, as "host:port". */
function watchConnections(): string[] {
  const made: string[] = [];
  const original = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, "connect").mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [first] = Array.isArray(args[0]) ? args[0] : args;
    made.push(typeof first === "object" ? `${first?.host}:${first?.port}` : String(first));
    return Reflect.apply(original, this, args);
  });
  return made;
}

describe("a machine that reaches nothing but its registry", () => {
  test("with SOURCE_TRUST_ROOT connects to nothing else", async () => {
    const made = watchConnections();
    const image = await world.pushImage();
    world.asBundle(image, signedBundle(world.sigstore, image.digest));
    const { images } = await world.open();
    expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    const { host } = new URL(world.fake.url);
    expect(new Set(made)).toEqual(new Set([host]));
  });

  test("without it uses the keys that this version came with, and says so", async () => {
    const stateFile = join(await scratchFolder(), "trust-root.json");
    const warnings: string[] = [];
    // The library's seed belongs to this address alone; the network is what is missing.
    vi.spyOn(Socket.prototype, "connect").mockImplementation(function (this: Socket) {
      process.nextTick(() => this.destroy(new Error("the network is unreachable")));
      return this;
    });
    const root = tufTrustRoot({
      source: SIGSTORE,
      stateFile,
      onWarning: (message) => void warnings.push(message),
    });
    const { certificateAuthorities, tlogs, ctlogs } = await root.material();
    expect(certificateAuthorities.length).toBeGreaterThan(0);
    expect(tlogs.map(({ baseURL }) => baseURL)).toContain("https://rekor.sigstore.dev");
    expect(ctlogs.length).toBeGreaterThan(0);
    expect(warnings).toEqual([expect.stringContaining("the one this version came with is used")]);
    await expect(readFile(stateFile)).rejects.toThrow("ENOENT");
  });
});

test.each([
  ["nothing", "", "JSON"],
  ["no trust root", "{}", "it names no certificate authority"],
  [
    "a trust root without logs",
    JSON.stringify({ ...JSON.parse(createPrivateSigstore().trustedRoot()), tlogs: [] }),
    "it names no log of signatures",
  ],
])("a file with %s is refused at start, naming it", async (_what, text, reason) => {
  const trustRoot = join(await scratchFolder(), "trusted_root.json");
  await writeFile(trustRoot, text);
  const error = await failure(world.open({ trustRoot }));
  expect(error).toBeInstanceOf(AppError);
  expect(error.code).toBe("invalid_input");
  expect(error.message).toContain(`the trust root ${trustRoot} cannot be used: `);
  expect(error.message).toContain(reason);
});
