/** Builds from a lock after the source moved on: equal bytes, by HTTP and by command, or the names of what is gone. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ModelLock } from "../../lib/domain/model-lock.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { type MovableSample, startMovableSample } from "../fixtures/movable-sample.ts";

const VERSION = "v1.13.2";
const OTHER = "v1.12.4";
const AGENT = "siderolabs/qemu-guest-agent";
const SCHEMATIC = `customization:\n  systemExtensions:\n    officialExtensions:\n      - ${AGENT}\n`;
const BUILT = "initramfs-amd64.xz";
const LATER = "metal-amd64-uki.efi";

let sample: MovableSample;
let factory: TestFactory;
let schematic: string;
/** Before the source moved. */
let lock: ModelLock;
let built: string;
let keyOfLater: string;
/** ID under which the factory keeps the lock. */
let id: string;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const lockPath = () => `/api/v1/models/${schematic}/${VERSION}/lock`;
const get = (path: string, headers: Record<string, string> = {}) => fetch(factory.url + path, { headers });
const json = async (path: string) => (await get(path)).json();
const post = (body: unknown) =>
  fetch(`${factory.url}/api/v1/locks`, { method: "POST", body: JSON.stringify(body) });
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());

beforeAll(async () => {
  sample = await startMovableSample();
  factory = await startTestFactory({ environment: { SOURCE_REGISTRY: sample.url, SOURCE_REFRESH: "1s" } });
  schematic = await factory.schematic(SCHEMATIC);
  lock = await json(lockPath());
  built = sha256(await readFile(await factory.fetch(`/image/${schematic}/${VERSION}/${BUILT}`)));
  keyOfLater = (await json(`/api/v1/plan/${schematic}/${VERSION}/${LATER}`)).assetKey;
  for (const repository of ["siderolabs/imager", "siderolabs/extensions"])
    await sample.move(repository, VERSION, OTHER);
  await vi.waitFor(
    async () => expect((await json(lockPath())).inputs[2]?.digest).not.toBe(lock.inputs[2]?.digest),
    { timeout: 60_000, interval: 500 },
  );
}, 400_000);
afterAll(async () => {
  await factory?.stop();
  await sample?.stop();
});

describe("a lock", () => {
  it("is kept under one ID, however it is written, and read back", async () => {
    const kept = await post(lock);
    expect(kept.status).toBe(201);
    id = (await kept.json()).id;
    expect(kept.headers.get("location")).toBe(`/api/v1/locks/${id}`);
    const backwards = Object.fromEntries(Object.entries(lock).reverse());
    expect((await (await post(backwards)).json()).id).toBe(id);
    expect(await json(`/api/v1/locks/${id}`)).toEqual(lock);
  });

  it("gives the file that was built before, while the tag gives another one", async () => {
    const path = `/api/v1/locks/${id}/${BUILT}`;
    const file = await get(path);
    expect([file.status, file.headers.get("x-lock-differences")]).toEqual([200, null]);
    expect(sha256(await bytesOf(file))).toBe(built);
    expect(await (await get(`${path}.sha256`)).text()).toBe(`${built}  ${BUILT}\n`);
    const part = await get(path, { range: "bytes=0-3" });
    expect([part.status, (await bytesOf(part)).length]).toEqual([206, 4]);
    const today = await json(`/api/v1/plan/${schematic}/${VERSION}/${BUILT}`);
    expect(today.ready).toBeNull();
  });

  it("builds what was never built as it would have been built then", async () => {
    const started = await get(`/api/v1/locks/${id}/${LATER}?async=1`);
    expect(started.status).toBe(202);
    const { location } = await started.json();
    // Under /image/ the same name means what the tag gives today.
    expect(await json(location)).toMatchObject({
      ...{ assetKey: keyOfLater, lockId: id },
      links: { download: `/api/v1/locks/${id}/${LATER}` },
    });
    const file = await get(`/api/v1/locks/${id}/${LATER}`);
    expect(file.status).toBe(200);
    expect((await json(location)).asset.sha256).toBe(sha256(await bytesOf(file)));
  });

  it("gives the same bytes to the command, which has nothing of the factory", async () => {
    const { file, err } = await casthouse(BUILT);
    expect(sha256(await readFile(file))).toBe(built);
    expect(err).not.toContain("differs");
  });

  it("says what differs from the factory that made it, and refuses then if it is asked to", async () => {
    const older = { ...lock.builder.operations, initramfs: 0, ova: 0 };
    const changed = {
      ...lock,
      builder: { ...lock.builder, operations: older, tools: { "xz-utils": "5.0\n" } },
    };
    const { id: other } = await (await post(changed)).json();
    const path = `/api/v1/locks/${other}/${BUILT}`;
    const told = (await get(path)).headers.get("x-lock-differences") ?? "";
    expect(told).toMatch(/^operation initramfs is \d+, was 0; package xz-utils is .*, was 5\.0\?$/);
    const refused = await get(path, { prefer: "handling=strict" });
    expect(refused.status).toBe(409);
    expect((await refused.json()).detail).toContain("operation initramfs");
    expect((await get(`/api/v1/locks/${id}/${BUILT}`, { prefer: "handling=strict" })).status).toBe(200);
  });

  it.each([
    ["no JSON object", () => "x", 400, "this is not a lock"],
    ["a field too many", () => ({ ...lock, extra: 1 }), 400, "this is not a lock"],
    ["a schematic nobody posted", () => ({ ...lock, schematic: "a".repeat(64) }), 404, "not found"],
    [
      "an image that belongs to no release",
      () => ({ ...lock, inputs: lock.inputs.map((input) => ({ ...input, repository: "secret/image" })) }),
      400,
      "secret/image is no image of a Talos release",
    ],
  ])("with %s is refused", async (_, document, status, words) => {
    const answer = await post(document());
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status,
      text: expect.stringContaining(words),
    });
  });

  it("that nobody brought is not found", async () => {
    const answer = await get(`/api/v1/locks/${"b".repeat(64)}/${BUILT}`);
    expect([answer.status, (await answer.json()).code]).toEqual([404, "not_found"]);
  });

  it("names every input that neither the source nor the store has any more", async () => {
    const [agent, imager] = [lock.inputs[2], lock.inputs[0]];
    for (const input of [agent, imager]) {
      for (const layer of await sample.layers(input?.repository ?? "", input?.digest ?? "", "amd64")) {
        const hex = layer.slice("sha256:".length);
        await sample.lose(layer);
        for (const place of ["objects/blobs", "cache/source/blobs"])
          await rm(join(factory.dataDir, place, "sha256", hex), { force: true });
      }
    }
    const answer = await get(`/api/v1/locks/${id}/nocloud-amd64-uki.efi`);
    const problem = await answer.json();
    expect(answer.status).toBe(404);
    for (const input of [agent, imager])
      expect(problem.detail).toContain(`${input?.repository}@${input?.digest}`);
    // What is made already needs no inputs.
    expect((await get(`/api/v1/locks/${id}/${BUILT}`)).status).toBe(200);
    await expect(casthouse(BUILT)).rejects.toMatchObject({ code: 5, stderr: expect.stringContaining(AGENT) });
  });
});

/** Runs the command with an empty cache; gives the file it made. */
async function casthouse(path: string): Promise<{ file: string; err: string }> {
  const dir = join(factory.dataDir, `command-${Date.now()}`);
  const lockFile = `${dir}.json`;
  await writeFile(lockFile, JSON.stringify(lock));
  const args = ["--lock", lockFile, "--source", sample.url, "--external-url", factory.url, "--output", dir];
  const run = ["--import", "tsx", "cli/main.ts", "build", ...args, "--cache-dir", `${dir}-cache`, path];
  const { stderr } = await promisify(execFile)(process.execPath, run);
  return { file: join(dir, path), err: stderr };
}
