/** Comparing: nothing differs from itself, both directions mirror each other, and every change has its name. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { readSide, settleSides, writeSide } from "../../../lib/domain/compare-side.ts";
import { diffLists, isUnchanged } from "../../../lib/domain/list-diff.ts";
import { diffCatalogs } from "../../../lib/domain/release-diff.ts";
import { diffSchematics } from "../../../lib/domain/schematic-diff.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import { arbitrarySchematic, extension, HISTORY, releaseOf, releaseWith } from "../../fixtures/catalogs.ts";

const METAL = { platform: "metal", arch: "amd64", secureboot: false } as const;
const SECRET = (lines: number) => `${lines} lines`;
const side = (text: string, version = "v1.13.2") => ({
  schematic: parseSchematic(text),
  release: releaseOf(version),
});
const diff = (a: ReturnType<typeof side>, b: ReturnType<typeof side>) => diffSchematics(a, b, METAL, SECRET);

const anySide = fc.record({ schematic: arbitrarySchematic, release: fc.constantFrom(...HISTORY) });

describe("lists", () => {
  const list = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

  it("hold the old list in what is not added and the new one in what is not removed", () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const items = diffLists(before, after);
        const values = (not: string) => items.filter((item) => item.change !== not).map((item) => item.value);
        expect(values("added")).toEqual(before);
        expect(values("removed")).toEqual(after);
        expect(isUnchanged(items)).toBe(before.join() === after.join());
      }),
    );
  });

  it("keep a change small where the rest is equal", () => {
    expect(diffLists(["a", "b", "c"], ["a", "x", "c"])).toEqual([
      { change: "same", value: "a" },
      { change: "removed", value: "b" },
      { change: "added", value: "x" },
      { change: "same", value: "c" },
    ]);
  });

  it("are not compared line by line where a text was made to take minutes", () => {
    const lines = (seed: number) => Array.from({ length: 60_000 }, (_, index) => `${(index * seed) % 997}`);
    const items = diffLists(lines(7), lines(11));
    expect(items.filter((item) => item.change !== "removed")).toHaveLength(60_000);
    // Many lines are in both; those that a comparison would find are told as replaced, all but the first.
    const changes = items.map((item) => item.change);
    expect(changes.filter((change) => change === "same")).toHaveLength(1);
    expect(changes.lastIndexOf("removed")).toBe(60_000 - 1);
  });
});

describe("two schematics", () => {
  it("have no difference when they are the same", () => {
    fc.assert(
      fc.property(anySide, (one) => {
        const { fields, extensions, commandLine, text } = diffSchematics(
          one,
          structuredClone(one),
          METAL,
          SECRET,
        );
        expect(fields).toEqual([]);
        expect(extensions.every((entry) => entry.change === "same")).toBe(true);
        expect(isUnchanged(commandLine) && isUnchanged(text)).toBe(true);
      }),
    );
  });

  it("differ the same way in both directions", () => {
    const mirror = { added: "removed", removed: "added" } as const;
    const turned = (change: string) => (change === "added" || change === "removed" ? mirror[change] : change);
    fc.assert(
      fc.property(anySide, anySide, (a, b) => {
        const there = diffSchematics(a, b, METAL, SECRET);
        const back = diffSchematics(b, a, METAL, SECRET);
        expect(new Map(back.fields.map((one) => [one.path, turned(one.change)]))).toEqual(
          new Map(there.fields.map((one) => [one.path, one.change])),
        );
        const named = back.extensions.map((one) => [one.name, turned(one.change)] as const);
        const expected = there.extensions.map((one) => [one.name, one.change] as const);
        const moves = (list: readonly (readonly [string, string])[]) =>
          new Map(list.filter(([, change]) => change !== "moved" && change !== "same"));
        expect(moves(named)).toEqual(moves(expected));
      }),
    );
  });

  it("name what changed, in the order of the document", () => {
    const a = side(`overlay: {image: i, name: rpi_5, options: {b: 1}}
customization:
  bootloader: grub
  meta: [{key: 10, value: x}, {key: 10, value: y}]
  secureboot: {enrollKeys: force}`);
    const b = side(`overlay: {image: i, name: rpi_5, options: {b: [1], c: d}}
customization:
  meta: [{key: 10, value: x}, {key: 10, value: z}]
  secureboot: {enrollKeys: force}
  diskImage: {sectorSize: 4096}`);
    expect(diff(a, b).fields.map(({ path, before, after }) => [path, before, after])).toEqual([
      ["overlay.options.b", "1", "[1]"],
      ["overlay.options.c", null, "d"],
      ["meta 0x0a #2", "y", "z"],
      ["bootloader", "grub", null],
      ["diskImage.sectorSize", null, "4096"],
    ]);
  });

  it("tell of a machine configuration only that it changed and how long it is", () => {
    const a = side('customization: {embeddedMachineConfiguration: "token: one"}');
    const b = side('customization: {embeddedMachineConfiguration: "token: two\\nx: y\\n"}');
    const found = diff(a, b);
    expect(found.fields[0]).toMatchObject({ change: "changed", secretLines: { before: 1, after: 2 } });
    expect(JSON.stringify(found)).not.toContain("token");
  });

  it("tell extensions that came, went, moved, were updated, rebuilt or are not offered apart", () => {
    const list = (...names: string[]) =>
      `customization: {systemExtensions: {officialExtensions: [${names.map((one) => `siderolabs/${one}`).join(", ")}]}}`;
    const a = side(list("i915", "gvisor", "old-one", "zfs", "drbd"), "v1.12.4");
    const b = side(list("brand-new", "drbd", "i915", "gvisor", "zfs"), "v1.13.2");
    a.release = { ...a.release, extensions: [...a.release.extensions, extension("drbd:9", "first")] };
    b.release = { ...b.release, extensions: [...b.release.extensions, extension("drbd:9", "second")] };
    const changes = diff(a, b).extensions.map(({ name, change }) => [name.slice(11), change]);
    expect(changes).toEqual([
      ["brand-new", "added"],
      ["drbd", "rebuilt"],
      ["i915", "same"],
      ["gvisor", "updated"],
      ["zfs", "updated"],
      ["old-one", "removed"],
    ]);
    const moved = diff(side(list("i915", "gvisor", "zfs")), side(list("zfs", "i915", "gvisor")));
    expect(moved.extensions.map(({ name, change }) => [name.slice(11), change])).toEqual([
      ["zfs", "moved"],
      ["i915", "same"],
      ["gvisor", "same"],
    ]);
    expect(diff(side(list("zfs"), "v1.9.5"), side(list("zfs"))).extensions[0]?.change).toBe("unavailable");
  });

  it("search no list once for each name or option, and tell all of them with their places", () => {
    const of = (length: number, item: (index: number) => string) => Array.from({ length }, (_, i) => item(i));
    const text = (from: string) =>
      `overlay: {options: {${of(1000, (i) => `${from}${i}: 1`).join(", ")}}}
customization: {systemExtensions: {officialExtensions: [${of(2000, (i) => from + i).join(", ")}]}}`;
    const [old, fresh] = [side(text("old")), side(text("new"))];
    // How long the lists are in which something is searched, all searches together.
    const searches = (["find", "includes", "indexOf"] as const).map((name) =>
      vi.spyOn(Array.prototype, name),
    );
    const { fields, extensions } = diff(old, fresh);
    const lists = searches.map((search) => search.mock.contexts);
    for (const search of searches) search.mockRestore();
    expect(
      lists.flat().reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0),
    ).toBeLessThan(100_000);
    expect(fields).toHaveLength(2000);
    expect(extensions).toHaveLength(4000);
    expect(extensions.at(-1)).toMatchObject({ name: "old1999", places: { before: 2000, after: null } });
    expect(extensions[1]).toMatchObject({ name: "new1", places: { before: null, after: 2 } });
  });

  it("compare the command lines of both releases word by word", () => {
    const words = diff(
      side("{}", "v1.9.5"),
      side("customization: {extraKernelArgs: [x=1]}", "v1.12.4"),
    ).commandLine;
    const of = (change: string) => words.filter((word) => word.change === change).map((word) => word.value);
    expect(of("removed")).toEqual(["ima_template=ima-ng", "ima_appraise=fix", "ima_hash=sha512"]);
    expect(of("added")).toEqual(["selinux=1", "module.sig_enforce=1", "x=1"]);
  });
});

describe("two releases", () => {
  it("differ by what came, went, was renamed or updated", () => {
    const before = releaseOf("v1.9.5");
    const after = releaseOf("v1.12.4");
    const changes = diffCatalogs(before, after).map(({ name, change }) => `${change} ${name}`);
    expect(changes).toEqual([
      "added acme/probe",
      "updated siderolabs/gvisor",
      "renamed siderolabs/i915",
      "removed siderolabs/usb-modem-drivers",
      "removed siderolabs/v4l-uvc",
      "added siderolabs/zfs",
      "added rpi_5",
    ]);
  });

  it("do not differ from themselves", () => {
    for (const release of HISTORY) expect(diffCatalogs(release, structuredClone(release))).toEqual([]);
    const [a, b] = [releaseWith("v1.12.0", ["x:1"]), releaseWith("v1.12.1", ["x:2"])];
    expect(diffCatalogs(a, b)).toMatchObject([{ change: "updated" }]);
    const rebuilt = { ...a, extensions: [extension("x:1", "again")] };
    expect(diffCatalogs(a, rebuilt)).toMatchObject([{ change: "rebuilt" }]);
  });
});

describe("a side", () => {
  const id = "ab".repeat(32);
  it.each([
    [id, { id, version: null }],
    ["1.13.2", { id: null, version: "v1.13.2" }],
    [` ${id}@v1.14.0-beta.1 `, { id, version: "v1.14.0-beta.1" }],
    [`factory.1.2.3.example:5000/metal-installer-secureboot/${id}:v1.12.4`, { id, version: "v1.12.4" }],
    [`http://10.0.0.1:3000/image/${id}/1.13.2/metal-amd64.raw.xz`, { id, version: "v1.13.2" }],
    [`http://host/schematics/${id}?version=v1.13.2&platform=metal`, { id, version: "v1.13.2" }],
    [`http://10.0.0.1/schematics/${id}`, { id, version: null }],
    ["banana", null],
    [`${id}0`, null],
    ["01.2.3", null],
    ["", null],
  ])("%j", (text, expected) => {
    expect(readSide(text)).toEqual(expected);
    if (expected !== null) expect(readSide(writeSide(expected))).toEqual(expected);
  });

  it("takes from the other what it leaves out", () => {
    const other = "cd".repeat(32);
    const settle = (a: string, b: string) =>
      settleSides(
        readSide(a) ?? { id: null, version: null },
        readSide(b) ?? { id: null, version: null },
        "v9.0.0",
      );
    expect(settle(`${id}@1.2.3`, other)).toEqual([
      { id, version: "v1.2.3" },
      { id: other, version: "v1.2.3" },
    ]);
    expect(settle(id, "1.2.3")).toEqual([
      { id, version: "v9.0.0" },
      { id, version: "v1.2.3" },
    ]);
    expect(settle("1.2.3", "1.2.4")).toEqual([
      { id: null, version: "v1.2.3" },
      { id: null, version: "v1.2.4" },
    ]);
  });
});
