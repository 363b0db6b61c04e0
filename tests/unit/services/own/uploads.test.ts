/** Uploads: refused before their bytes where that is known, bounded where it is not, and nobody waits for a slow sender. */
import { randomBytes } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import type { UploadRequest } from "../../../../lib/services/own/contracts.ts";
import { makeLayer } from "../../../fixtures/fake-image.ts";
import {
  extensionEntries,
  extensionLayer,
  type OwnWorldSettings,
  openOwnWorld,
} from "../../../fixtures/own-service.ts";

async function open(settings: OwnWorldSettings = {}) {
  const world = await openOwnWorld(settings);
  onTestFinished(() => world.close());
  const upload = (body: Readable, change: Partial<UploadRequest> = {}) =>
    world.own.upload({
      ...{ namespace: "team", name: "daemon", arch: "amd64", sizeBytes: null },
      ...{ body, signal: new AbortController().signal, ...change },
    });
  return { ...world, upload };
}

/** A body that fails the test when anybody reads it. */
const untouched = () =>
  new Readable({
    read() {
      this.destroy(new Error("was read"));
    },
  });

it("keeps what was sent, counted, and none of the scratch", async () => {
  const { upload, stored, scratch, kept, content } = await open();
  const pin = await upload(Readable.from([await extensionLayer("one")]));
  expect(pin).toMatchObject({ state: "adopted", name: "team/daemon", tag: "v1" });
  expect([(await stored()).length, await scratch(), kept.size]).toEqual([2, [], 2]);
  expect(content.get("own/team/daemon")?.tags).toMatchObject([{ tag: "v1", digest: pin.digest }]);
});

it("reads nothing of what is known to be too large, or not to fit", async () => {
  const { upload, scratch, kept } = await open({ mostBytes: 1_000_000, maxBytes: 500_000 });
  await expect(upload(untouched(), { sizeBytes: 500_001 })).rejects.toMatchObject({ code: "too_large" });
  kept.set("sha256:other", 900_000);
  await expect(upload(untouched(), { sizeBytes: 200_000 })).rejects.toMatchObject({ code: "out_of_space" });
  await expect(upload(untouched(), { namespace: "siderolabs" })).rejects.toMatchObject({
    code: "invalid_input",
  });
  expect(await scratch()).toEqual([]);
});

it("stops reading what does not fit, other uploads on their way counted, and gives their room back", async () => {
  const { upload, scratch } = await open({ mostBytes: 1_000_000 });
  const slow = new PassThrough();
  const first = upload(slow, { name: "slow" });
  first.catch(() => undefined);
  slow.write(Buffer.alloc(600_000));
  await expect.poll(() => slow.readableLength).toBe(0);
  const second = upload(Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(10_000))));
  await expect(second).rejects.toMatchObject({ code: "out_of_space" });
  slow.destroy();
  await expect(first).rejects.toThrow();
  expect((await upload(Readable.from([await extensionLayer("x".repeat(600_000))]))).state).toBe("adopted");
  expect(await scratch()).toEqual([]);
});

it("lets nobody wait for slow senders", async () => {
  const { upload } = await open();
  const slow = Array.from({ length: 5 }, () => new PassThrough());
  const waiting = slow.map((body, index) => upload(body, { name: `slow${index}` }).catch(() => "failed"));
  for (const body of slow) body.write("a drop");
  await expect.poll(() => slow.every(({ readableLength }) => readableLength === 0)).toBe(true);
  expect((await upload(Readable.from([await extensionLayer("fast")]))).state).toBe("adopted");
  for (const body of slow) body.destroy();
  expect(await Promise.all(waiting)).toEqual(slow.map(() => "failed"));
});

it("keeps no extension whose description or report is a book", async () => {
  const { upload, kept } = await open();
  const book = await extensionLayer("x", { description: "b".repeat(20_000) });
  await expect(upload(Readable.from([book]))).rejects.toThrow("manifest.yaml is larger than 16 KiB");
  const service = (name: string) =>
    JSON.stringify({ name, container: { entrypoint: "/x", environment: [`A=${"e".repeat(50_000)}`] } });
  const services = ["a", "b", "c"].flatMap((name) => [
    { name: `rootfs/usr/local/etc/containers/${name}.yaml`, content: service(name) },
    { name: `rootfs/usr/local/lib/containers/${name}/x`, content: "#!/x\n", mode: 0o755 },
  ]);
  const many = await makeLayer([...extensionEntries("x"), ...services]);
  await expect(upload(Readable.from([many]))).rejects.toThrow("report has more than 131072 characters");
  expect(kept.size).toBe(0);
});

it("takes no image that became larger than one may be when it was packed", async () => {
  const { upload, kept } = await open({ maxBytes: 100_000 });
  const content = randomBytes(50_000).toString("hex").repeat(2);
  const zstd = await makeLayer(extensionEntries(content), "zstd");
  expect(zstd.length).toBeLessThan(100_000);
  await expect(upload(Readable.from([zstd]))).rejects.toMatchObject({ code: "too_large" });
  expect(kept.size).toBe(0);
});

it("replaces nothing official where everyone may send something", async () => {
  const { upload } = await open({ everyone: true });
  await expect(upload(untouched(), { namespace: "siderolabs", override: true })).rejects.toMatchObject({
    code: "forbidden",
    message: "Official extensions are replaced by administrators only",
  });
});

it("gives two first uploads of a name one source", async () => {
  const { own, upload } = await open();
  const [one, two] = await Promise.all([
    upload(Readable.from([await extensionLayer("one")])),
    upload(Readable.from([await extensionLayer("two")])),
  ]);
  expect(one.sourceId).toBe(two.sourceId);
  const [source, ...others] = await own.list();
  expect([others, source?.pins.length]).toEqual([[], 2]);
});

it("says that its source was removed while it was on its way", async () => {
  const { own, upload, stored } = await open();
  const { sourceId } = await upload(Readable.from([await extensionLayer("one")]));
  const body = new PassThrough();
  const archive = await extensionLayer("two");
  const second = upload(body).catch((error: unknown) => error);
  body.write(archive.subarray(0, 10));
  await expect.poll(() => body.readableLength).toBe(0);
  await own.remove(sourceId ?? "");
  body.end(archive.subarray(10));
  expect(await second).toMatchObject({
    code: "not_found",
    message: 'The source "team/daemon" was deleted meanwhile',
  });
  expect([await own.list(), (await stored()).length > 0]).toEqual([[], true]);
});
