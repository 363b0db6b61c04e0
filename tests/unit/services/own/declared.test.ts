/** The file of declared sources: what is read, and what is refused with its place. */
import { describe, expect, it } from "vitest";
import { parseDeclarations } from "../../../../lib/services/own/declared.ts";
import { FilePacer } from "../../../../lib/services/own/declared-file.ts";

const entry = (more = "") => `{kind: image, namespace: team, name: a, reference: "r.io/a:1"${more}}`;

describe("a file of declared sources", () => {
  it("may declare none, but must say so: an empty file may be one that is being written", () => {
    expect(() => parseDeclarations("")).toThrow("wrong at the top");
    expect(parseDeclarations("sources: []\n")).toEqual([]);
  });

  it("gives each source with what is to be adopted", () => {
    const [one] = parseDeclarations(`sources:\n  - ${entry(', adopt: [{talos: ">=1.12.0"}, {}]')}\n`);
    expect(one?.input).toMatchObject({ namespace: "team", trust: { rule: "off" }, override: false });
    expect(one?.adopt).toEqual([{ talos: ">=1.12.0" }, { talos: "" }]);
  });

  it.each([
    ["no YAML", "sources: [", "not YAML"],
    ["no list", "sources: {}", "wrong at sources"],
    ["another key at the top", "sources: []\nsource: []", "wrong at the top"],
    ["a misspelt key", `sources: [${entry(", overide: true")}]`, 'Unrecognized key: "overide"'],
    ["a misspelt key of adopt", `sources: [${entry(", adopt: [{talso: x}]")}]`, "sources.0.adopt.0"],
    ["a range nobody can read", `sources: [${entry(", adopt: [{talos: newest}]")}]`, "adopt.0.talos"],
    ["half a digest", `sources: [${entry(', adopt: [{digest: "sha256:12"}]')}]`, "adopt.0.digest"],
    ["a missing reference", "sources: [{kind: image, namespace: team, name: a}]", "sources.0.reference"],
    ["an upload", "sources: [{kind: upload, namespace: team, name: a}]", "is an upload"],
    ["a source twice", `sources: [${entry()}, ${entry()}]`, "team/a is declared twice"],
    [
      "the official namespace",
      "sources: [{kind: catalog, namespace: siderolabs, reference: r.io/a}]",
      "namespace",
    ],
    [
      "a digest for a catalog",
      `sources: [{kind: catalog, namespace: team, reference: r.io/a, adopt: [{digest: "sha256:${"0".repeat(64)}"}]}]`,
      "adopt has none there",
    ],
    ["aliases", "a: &a [x]\nsources: [*a, *a]", "wrong: Alias resolution is disabled"],
  ])("with %s is refused", (_, text, words) => {
    expect(() => parseDeclarations(text)).toThrow(words);
  });
});

describe("when the file is read", () => {
  it("waits until it has stopped changing", () => {
    const pacer = new FilePacer();
    const due = ["0 bytes", "10 bytes", "20 bytes", "20 bytes"].map((mark) => pacer.isDue(mark, 0));
    expect(due).toEqual([false, false, false, true]);
    pacer.succeed("20 bytes");
    expect(pacer.isDue("20 bytes", 1e9)).toBe(false);
  });

  it("is read again after failures, with growing pauses, and at once when it changes", () => {
    const pacer = new FilePacer();
    pacer.isDue("wrong", 0);
    const times: number[] = [];
    for (let now = 0; now <= 4_000_000; now += 1_000) if (pacer.isDue("wrong", now)) times.push(now / 1_000);
    expect(times).toEqual([0, 30, 90, 210, 450, 930, 1_830, 2_730, 3_630]);
    expect([pacer.isDue("right", 4_001_000), pacer.isDue("right", 4_002_000)]).toEqual([false, true]);
  });
});
