/** The room for own images: what is on its way counts, what fails is given back, what does not fit hears why. */
import { describe, expect, it } from "vitest";
import type { RegistryBlob } from "../../../../lib/domain/registry-content.ts";
import { createOwnRoom } from "../../../../lib/services/own/room.ts";
import { memoryKept } from "../../../fixtures/own-rows.ts";

const MIB = 2 ** 20;

const blob = (digest: string, mib: number): RegistryBlob => ({ digest, sizeBytes: mib * MIB });
const nothing = () => Promise.resolve();

describe("what is on its way", () => {
  it("counts over all that come at once, until they end", async () => {
    const rows = memoryKept();
    const room = createOwnRoom({ rows, mostBytes: 10 * MIB });
    await room.keep("offered/a/b", [blob("x", 4)], nothing);
    const [one, two] = [await room.arrive(), await room.arrive()];
    one.take(4 * MIB);
    expect(() => two.take(3 * MIB)).toThrow(
      "Own extensions and overlays may take 10 MiB together, 8 MiB are taken, and this one does not fit",
    );
    two.take(2 * MIB);
    expect(() => one.take(1)).toThrow("10 MiB are taken");
    one.end();
    one.end();
    two.take(4 * MIB);
    expect(() => two.require(1)).toThrow("10 MiB are taken");
  });

  it("says what the operator can do", async () => {
    const room = createOwnRoom({ rows: memoryKept(), mostBytes: MIB });
    const arrival = await room.arrive();
    expect(() => arrival.require(MIB + 1)).toThrow(
      expect.objectContaining({
        code: "out_of_space",
        status: 507,
        extra: expect.objectContaining({ hint: expect.stringContaining("OWN_EXTENSIONS_MAX_TOTAL") }),
      }),
    );
  });
});

describe("what is kept", () => {
  it("is counted before it is stored, each digest once", async () => {
    const rows = memoryKept();
    const room = createOwnRoom({ rows, mostBytes: 10 * MIB });
    await room.keep("offered/a/b", [blob("x", 6)], async () => {
      expect(rows.kept.get("x")).toBe(6 * MIB);
    });
    expect(await room.missing([blob("x", 6), blob("y", 1)])).toBe(MIB);
    await room.keep("offered/a/c", [blob("x", 6), blob("y", 4)], nothing);
    await expect(
      room.keep("offered/a/d", [blob("z", 1)], () => Promise.reject(new Error("not asked for"))),
    ).rejects.toThrow("10 MiB are taken");
  });

  it("is given back when it could not be stored, what others have kept is not", async () => {
    const rows = memoryKept();
    const room = createOwnRoom({ rows, mostBytes: 10 * MIB });
    await room.keep("offered/a/b", [blob("x", 6)], nothing);
    const failing = () => Promise.reject(new Error("the store is away"));
    await expect(room.keep("offered/a/c", [blob("x", 6), blob("y", 4)], failing)).rejects.toThrow("is away");
    expect([...rows.kept.keys()]).toEqual(["x"]);
  });
});
