/** What Postgres decides about own sources: whole or not at all, one after the other, and how much is kept. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newBuildId } from "../../lib/db/build-id.ts";
import { createDatabase, type Database } from "../../lib/db/client.ts";
import {
  createOwnKeptRepository,
  type OwnKeptRepository,
  PIN_BYTES,
} from "../../lib/db/own-kept-repository.ts";
import { createOwnSourceRepository, type OwnSourceRepository } from "../../lib/db/own-source-repository.ts";
import type { OwnPin, OwnSource } from "../../lib/domain/own-sources.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";

const MIB = 2 ** 20;

let db: Database;
let rows: OwnSourceRepository;
let kept: OwnKeptRepository;

beforeAll(async () => {
  db = createDatabase(await createMigratedDatabase());
  rows = createOwnSourceRepository(db);
  kept = createOwnKeptRepository(db);
});
afterAll(() => db?.$disconnect());
beforeEach(async () => {
  await db.ownPin.deleteMany({});
  await db.ownSource.deleteMany({});
  await db.registryBlob.deleteMany({});
  await db.registryManifest.deleteMany({});
});

const newId = () => newBuildId(Date.now());
const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`;

const newSource = (change: Partial<OwnSource> = {}): OwnSource => ({
  ...{ id: newId(), kind: "image", subject: "extension", namespace: "team", name: "daemon" },
  ...{ reference: "r.example.com/team/daemon:v1", trust: { rule: "off" }, override: false },
  ...{ declared: false, createdAt: new Date(), ...change },
});

const newPin = ({ id: sourceId }: OwnSource, change: Partial<OwnPin> = {}): OwnPin => ({
  ...{ id: newId(), sourceId, subject: "extension", name: "team/daemon", repository: "own/team/daemon" },
  ...{ origin: "r.example.com/team/daemon:v1", tag: "v1", digest: digestOf("a"), talos: "", constraint: "" },
  ...{ author: "", description: "", platforms: ["amd64"], sizeBytes: 1, override: false, report: [] },
  ...{ accepted: false, state: "offered", createdAt: new Date(), adoptedAt: null, ...change },
});

const inUse = (pin: OwnPin): OwnPin => ({ ...pin, state: "adopted", adoptedAt: new Date() });
const statesOf = async () => (await rows.pins()).map(({ state }) => state).sort();

test("a source is added with its pins, or not at all", async () => {
  const source = newSource();
  expect(await rows.addSource(source, [newPin(source), newPin(source, { digest: digestOf("b") })])).toBe(
    true,
  );
  const second = newSource();
  expect(await rows.addSource(second, [newPin(second)])).toBe(false);
  const broken = newSource({ name: "other" });
  const twice = newPin(broken);
  await expect(rows.addSource(broken, [twice, newPin(second)])).rejects.toThrow();
  expect([await rows.sources(), await rows.countPins()]).toEqual([[source], 2]);
});

test("a source that was removed meanwhile gets no pins, and none of them comes into use", async () => {
  const source = newSource();
  const other = newSource({ namespace: "other" });
  const [pin, rival] = [newPin(source), newPin(other)];
  await rows.addSource(source, [pin]);
  await rows.addSource(other, [rival]);
  await rows.adoptPin(inUse(rival));
  await rows.removeSource(source.id);
  expect(await rows.addPins([newPin(source)])).toBe(false);
  expect(await rows.adoptPin(inUse(pin))).toBe("gone");
  expect(await rows.findPin(pin.id)).toMatchObject({ sourceId: null, state: "retired" });
  expect(await rows.findPin(rival.id)).toMatchObject({ state: "adopted" });
});

test("a pin that is retired by somebody who knows it as offered stays known as one that was in use", async () => {
  const source = newSource();
  const pin = newPin(source);
  await rows.addSource(source, [pin]);
  await rows.adoptPin({ ...inUse(pin), talos: ">=1.13.0", accepted: true });
  await rows.retirePin(pin.id);
  expect(await rows.findPin(pin.id)).toMatchObject({
    ...{ state: "retired", talos: ">=1.13.0", accepted: true },
    adoptedAt: expect.any(Date),
  });
  expect(await rows.usedPins()).toMatchObject([{ id: pin.id, state: "retired", report: null }]);
});

test("people who adopt, retire, look and delete at once wait for each other, and one image is in use", async () => {
  const source = newSource();
  const pins = Array.from("abcdef", (digit) => newPin(source, { digest: digestOf(digit) }));
  await rows.addSource(source, pins);
  for (let round = 0; round < 5; round += 1)
    await Promise.all([
      ...pins.map((pin) => rows.adoptPin(inUse(pin))),
      ...pins.slice(0, 2).map((pin) => rows.retirePin(pin.id)),
      rows.changeSource({ ...source, override: true }),
      rows.addPins([newPin(source)]),
    ]);
  expect((await statesOf()).filter((state) => state === "adopted").length).toBeLessThanOrEqual(1);
  const ends = await Promise.all([
    rows.removeSource(source.id),
    ...pins.map((pin) => rows.adoptPin(inUse(pin))),
  ]);
  expect(ends.slice(1).every((end) => end === "adopted" || end === "gone")).toBe(true);
  expect(await rows.pins()).toEqual([]);
  expect(new Set((await rows.usedPins()).map(({ state }) => state))).toEqual(new Set(["retired"]));
});

test("all that is kept counts, whatever repository shows it: blobs once, manifests, and each image that is remembered", async () => {
  const blobs = [
    { digest: digestOf("1"), sizeBytes: 3 * MIB },
    { digest: digestOf("2"), sizeBytes: MIB },
  ];
  expect(await kept.measure([...blobs, ...blobs])).toEqual({ usedBytes: 0, moreBytes: 4 * MIB });
  const first = await kept.claim("offered/team/daemon", blobs, 10 * MIB);
  expect(first.claimed?.sort()).toEqual([digestOf("1"), digestOf("2")]);
  expect((await kept.claim("own/team/daemon", blobs, 4 * MIB)).claimed).toHaveLength(2);
  await kept.claim("siderolabs/gvisor", [{ digest: digestOf("3"), sizeBytes: 90 * MIB }], 100 * MIB);
  const bytes = new Uint8Array(1_000);
  const manifest = { digest: digestOf("9"), mediaType: "x", bytes, annotations: {} };
  for (const repository of ["own/team/daemon", "offered/team/daemon", "metal-installer/x"])
    await db.registryManifest.create({ data: { repository, ...manifest } });
  const source = newSource();
  await rows.addSource(source, [newPin(source, { state: "retired" })]);
  const usedBytes = 4 * MIB + 1_000 + PIN_BYTES;
  expect(await kept.measure(blobs.slice(1))).toEqual({ usedBytes, moreBytes: 0 });
  expect(await kept.claim("offered/x/y", [{ digest: digestOf("4"), sizeBytes: 1 }], usedBytes)).toEqual({
    ...{ usedBytes, moreBytes: 1, claimed: null },
  });
  await kept.unclaim("own/team/daemon", [digestOf("1")]);
  await kept.unclaim("offered/team/daemon", [digestOf("1")]);
  expect((await kept.measure([])).usedBytes).toBe(usedBytes - 3 * MIB);
});

test("claims that are made at once never give more than there is", async () => {
  const claims = await Promise.all(
    Array.from("0123456789", (digit) =>
      kept.claim(`offered/team/x${digit}`, [{ digest: digestOf(digit), sizeBytes: 3 * MIB }], 10 * MIB),
    ),
  );
  expect(claims.filter(({ claimed }) => claimed !== null)).toHaveLength(3);
  expect((await kept.measure([])).usedBytes).toBe(9 * MIB);
});
