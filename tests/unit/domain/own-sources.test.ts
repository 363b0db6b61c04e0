/** Names, ranges and what a release gets of own extensions. */
import { describe, expect, it } from "vitest";
import { ownMark } from "../../../lib/domain/own-mark.ts";
import {
  coversVersion,
  type OwnPin,
  parseOwnSource,
  pinsFor,
  requireOwnName,
  requireRange,
  withFormerOwn,
  withOwn,
} from "../../../lib/domain/own-sources.ts";
import { extensionImage, type Release } from "../../../lib/domain/release.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const pin = (change: Partial<OwnPin> = {}): OwnPin => ({
  id: "01890000-0000-7000-8000-000000000001",
  sourceId: "01890000-0000-7000-8000-000000000002",
  subject: "extension",
  name: "team/daemon",
  repository: "own/team/daemon",
  origin: "registry.example.com/team/daemon:v1",
  tag: "v1",
  digest: DIGEST,
  talos: "",
  constraint: "",
  author: "Team",
  description: "A daemon",
  platforms: ["amd64"],
  sizeBytes: 1,
  override: false,
  report: [],
  accepted: false,
  state: "adopted",
  createdAt: new Date(1),
  adoptedAt: new Date(1),
  ...change,
});

const official = (name: string) => ({
  name,
  ref: `ghcr.io/${name}:1`,
  digest: DIGEST,
  author: "",
  description: "",
});
const release: Release = {
  version: "v1.13.2",
  sample: false,
  imager: { repository: "siderolabs/imager", digest: DIGEST },
  baseInstaller: null,
  extensions: [official("siderolabs/gvisor"), official("siderolabs/tailscale")],
  overlays: [],
};

const source = {
  kind: "image",
  namespace: "team",
  name: "daemon",
  reference: "r.example.com/team/daemon:v1",
};

describe("a source", () => {
  it("is read with its defaults", () => {
    expect(parseOwnSource(source)).toEqual({
      ...source,
      subject: "extension",
      trust: { rule: "off" },
      override: false,
    });
  });

  it.each([
    ["an image without name", { ...source, name: undefined }, "name"],
    ["a catalog with a name", { ...source, kind: "catalog" }, "name"],
    ["an image without reference", { ...source, reference: undefined }, "reference"],
    ["an upload with a reference", { ...source, kind: "upload" }, "reference"],
    [
      "an uploaded overlay",
      { kind: "upload", subject: "overlay", namespace: "team", name: "board" },
      "subject",
    ],
    ["the official namespace", { ...source, namespace: "siderolabs" }, "namespace"],
    ["a namespace with a slash", { ...source, namespace: "a/b" }, "namespace"],
    ["a name in capitals", { ...source, name: "Daemon" }, "name"],
    [
      "a catalog that trusts one digest",
      { kind: "catalog", namespace: "t", reference: "r.io/c", trust: { rule: "digest", digest: DIGEST } },
      "trust",
    ],
    ["an unknown rule of trust", { ...source, trust: { rule: "hope" } }, "trust.rule"],
    ["an unknown field", { ...source, password: "x" }, "source"],
  ])("is refused as %s", (_name, value, field) => {
    expect(() => parseOwnSource(JSON.parse(JSON.stringify(value)))).toThrow(`wrong at ${field}:`);
  });

  it("may be in the official namespace as an override", () => {
    expect(parseOwnSource({ ...source, namespace: "siderolabs", override: true }).override).toBe(true);
  });
});

it.each(["../x", "a..b", "", "A", "a/b", "-a", "a".repeat(64)])("takes %j for no name", (name) => {
  expect(() => requireOwnName("team", name)).toThrow("is no name of an own extension");
});

it.each([
  ["", "v1.2.0", true],
  [">=1.12.0 <1.14.0", "v1.13.2", true],
  [">=1.12.0 <1.14.0", "v1.14.0", false],
  ["=1.13.2", "v1.13.2", true],
  [">= v1.14.0", "v1.14.0-beta.1", true],
])("knows whether %j covers %s", (range, version, covered) => {
  expect(coversVersion(range, version)).toBe(covered);
});

it("refuses a range that cannot be read", () => {
  expect(requireRange(" >=1.12.0 ")).toBe(">=1.12.0");
  expect(() => requireRange("newest")).toThrow('"newest" is no range of Talos versions');
});

describe("a release", () => {
  it("gets adopted pins in range, by name, the last adopted one of each", () => {
    const later = pin({ id: "later", tag: "v2", adoptedAt: new Date(2) });
    const pins = [
      pin(),
      later,
      pin({ id: "offered", state: "offered", adoptedAt: new Date(3) }),
      pin({ id: "other", talos: "<1.10.0", adoptedAt: new Date(4) }),
      pin({ id: "unfit", constraint: ">= v1.14.0", adoptedAt: new Date(5) }),
      pin({ id: "board", subject: "overlay", name: "board" }),
    ];
    expect(pinsFor(pins, "v1.13.2").map(({ id }) => id)).toEqual(["board", "later"]);
  });

  it("stays the same object without own entries", () => {
    expect(withOwn(release, [pin({ state: "retired" })], "factory")).toBe(release);
  });

  it("has own entries first, under their own names, from our own registry", () => {
    const [first, ...others] = withOwn(release, [pin()], "factory:3000").extensions;
    expect(first).toMatchObject({
      name: "team/daemon",
      ref: "factory:3000/own/team/daemon:v1",
      digest: DIGEST,
    });
    expect(first && extensionImage(first).repository).toBe("own/team/daemon");
    expect(others).toEqual(release.extensions);
  });

  it("has what was retired last for files that were built then, beside what is in use", () => {
    const retired = (id: string, at: number, change: Partial<OwnPin> = {}) =>
      pin({ id, state: "retired", adoptedAt: new Date(at), ...change });
    const pins = [
      retired("older", 2),
      retired("newer", 3),
      pin({ id: "never", state: "retired", adoptedAt: null }),
      retired("unfit", 4, { talos: "<1.10.0" }),
      pin({ id: "used", name: "team/used", repository: "own/team/used" }),
      retired("former", 9, { name: "team/used", repository: "own/team/used" }),
    ];
    const former = withFormerOwn(release, pins, "factory").extensions;
    expect(former.flatMap(({ own }) => (own === undefined ? [] : [own.pin]))).toEqual(["used", "newer"]);
    expect(withOwn(release, pins, "factory").extensions.map(({ name }) => name)).not.toContain("team/daemon");
  });

  it("marks what is not official, and replaced names only where something is replaced", () => {
    const pins = [pin({ override: true }), pin({ id: "g", name: "siderolabs/gvisor", override: true })];
    const { extensions } = withOwn(release, pins, "factory:3000");
    expect(extensions.map((entry) => [entry.name, ownMark(entry)])).toEqual([
      ["siderolabs/gvisor", "replaces"],
      ["team/daemon", "own"],
      ["siderolabs/tailscale", null],
    ]);
    // What the list of the API gives has no origin.
    const bare = { name: "team/daemon", ref: "factory:3000/own/team/daemon:v1" };
    expect(ownMark(bare)).toBe("own");
    expect(ownMark({ ...bare, name: "siderolabs/gvisor" })).toBe("replaces");
    expect(ownMark({ ...bare, ref: "ghcr.io/siderolabs/own/x:v1" })).toBeNull();
  });

  it("keeps an official name unless it is replaced on purpose", () => {
    const same = pin({ name: "siderolabs/gvisor", repository: "own/siderolabs/gvisor" });
    expect(withOwn(release, [same], "f").extensions).toEqual(release.extensions);
    const names = withOwn(release, [{ ...same, override: true }], "f").extensions;
    expect(names.map(({ name, own }) => [name, own?.override ?? false])).toEqual([
      ["siderolabs/gvisor", true],
      ["siderolabs/tailscale", false],
    ]);
  });
});
