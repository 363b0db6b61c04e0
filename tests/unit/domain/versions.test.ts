/** Reading, ordering and choosing versions. */
import fc from "fast-check";
import semver from "semver";
import { describe, expect, it } from "vitest";
import {
  compareVersions,
  formatVersion,
  isAtLeast,
  isPrerelease,
  minorLine,
  parseVersion,
  parseVersionLeniently,
  selectVersions,
  versionTag,
} from "../../../lib/domain/versions.ts";
import { refusal } from "../../fixtures/refusal.ts";

describe("versionTag", () => {
  it.each([
    ["1.13.0", "v1.13.0"],
    ["v1.13.0", "v1.13.0"],
    ["v1.14.0-beta.1", "v1.14.0-beta.1"],
    ["1.13.0-alpha.0-17-gabcdef012-dirty", "v1.13.0-alpha.0-17-gabcdef012-dirty"],
  ])("takes %s", (text, tag) => expect(versionTag(text)).toBe(tag));

  it.each([
    "abc",
    "latest",
    "",
    "v",
    "v1.13",
    "v1",
    "v01.13.0",
    "vv1.13.0",
    "v-1.0.0",
    "1.13.0.0",
    "1.13.0 ",
    "1.13.0-",
    "1.13.0-rc..1",
    "1.13.0-rc.01",
    "1.13.0+",
    "1.13.99999999999999999999",
    `1.13.0-${"x".repeat(200)}`,
  ])("refuses %j with the text in the sentence", (text) => {
    const thrown = refusal(() => versionTag(text));
    expect(thrown.status).toBe(400);
    expect(thrown.message).toMatch(/^version ".*" is not a version number$/);
    expect(thrown.message).toContain(text.slice(0, 20));
    expect(thrown.message.length).toBeLessThan(200);
  });

  it("refuses build metadata and says what to leave out", () => {
    const thrown = refusal(() => versionTag("v1.13.0+x"));
    expect(thrown.message).toBe('version "v1.13.0+x" carries build metadata, which no release has');
    expect(thrown.extra.hint).toBe('Leave out "+x".');
  });
});

describe("lenient reading", () => {
  it.each([
    [" v1.9.5 ", "1.9.5"],
    ["1.9", "1.9.0"],
    ["v1", "1.0.0"],
    ["01.002.0", "1.2.0"],
    ["v1.8.0-alpha.0", "1.8.0-alpha.0"],
  ])("forgives %j", (text, plain) => {
    const version = parseVersionLeniently(text);
    expect(version && formatVersion(version)).toBe(plain);
  });

  it.each(["1.9-rc.1", "latest", "", "v", "1.2.3.4", "1..2", "sha256-abc.sig"])("gives up on %j", (text) => {
    expect(parseVersionLeniently(text)).toBeNull();
  });
});

const numbers = fc.nat(20);
const identifier = fc.oneof(fc.nat(12).map(String), fc.constantFrom("alpha", "beta", "rc", "x-1", "A"));
const versionText = fc
  .tuple(numbers, numbers, numbers, fc.array(identifier, { maxLength: 3 }))
  .map(
    ([major, minor, patch, pre]) =>
      `${major}.${minor}.${patch}${pre.length === 0 ? "" : `-${pre.join(".")}`}`,
  );

describe("order", () => {
  it("agrees with the semver package", () => {
    fc.assert(
      fc.property(versionText, versionText, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(semver.compare(a, b));
      }),
      { numRuns: 1000 },
    );
  });

  it("reads exactly what the semver package reads", () => {
    fc.assert(
      fc.property(
        versionText,
        fc.string({ maxLength: 3, unit: fc.constantFrom("0", ".", "-", "a") }),
        (a, tail) => {
          expect(parseVersion(a + tail) === null).toBe(semver.parse(a + tail) === null);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("sorts the example of the standard", () => {
    const sorted = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
    ];
    expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted);
  });

  it("counts pre-releases when a minimum is one", () => {
    expect(isAtLeast("v1.12.0-alpha.1", "1.12.0-alpha.2")).toBe(false);
    expect(isAtLeast("v1.12.0-alpha.2", "1.12.0-alpha.2")).toBe(true);
    expect(isAtLeast("v1.7.0-beta.0", "1.7.0")).toBe(false);
    expect(isAtLeast("nonsense", "1.7.0")).toBe(false);
  });

  it("knows pre-releases and minor lines", () => {
    expect([isPrerelease("v1.14.0-rc.1"), isPrerelease("1.14.0")]).toEqual([true, false]);
    expect([minorLine("v1.13.2"), minorLine("1.14.0-beta.1")]).toEqual(["1.13", "1.14"]);
  });
});

describe("selectVersions", () => {
  const select = (tags: string[], min = "1.2.0", broken: string[] = []) =>
    selectVersions(tags, { min, broken });

  it("sorts by number, not by text", () => {
    expect(select(["v1.13.0", "v1.12.3", "v1.9.5", "v1.10.4", "v1.14.0-beta.1"])).toEqual([
      "v1.9.5",
      "v1.10.4",
      "v1.12.3",
      "v1.13.0",
      "v1.14.0-beta.1",
    ]);
  });

  it("keeps pre-releases of the newest line only, and only in the usual form", () => {
    expect(
      select([
        "v1.14.0-rc.1",
        "v1.14.0-alpha.0-12-gabc",
        "v1.14.0-rc.1.2",
        "v1.14.0-dev.1",
        "v1.14.0-beta",
        "v1.13.0-beta.1",
        "v1.13.0",
      ]),
    ).toEqual(["v1.13.0", "v1.14.0-rc.1"]);
  });

  it("keeps pre-releases of the newest line after its final release", () => {
    expect(select(["v1.14.0-rc.1", "v1.14.0", "v1.14.1"])).toEqual(["v1.14.0-rc.1", "v1.14.0", "v1.14.1"]);
  });

  it("lets an unusual or broken newest tag decide which line is newest", () => {
    expect(select(["v1.14.0-rc.1", "v1.15.0-alpha.0-3-gabc"])).toEqual([]);
    expect(select(["v1.14.0-rc.1", "v1.15.0"], "1.2.0", ["1.15.0"])).toEqual([]);
  });

  it("drops what is below the minimum, broken, or no version", () => {
    expect(
      select(["v1.1.9", "v1.2.0", "latest", "sha256-abc.sig", "v1.3.0", "v1.4.0"], "v1.2.0", [
        "v1.3.0",
        "junk",
      ]),
    ).toEqual(["v1.2.0", "v1.4.0"]);
    expect(select([])).toEqual([]);
  });

  it("lists a version once, with v, however it is tagged", () => {
    expect(select(["1.9.0", "v1.9", "v1.9.0"])).toEqual(["v1.9.0"]);
  });
});
