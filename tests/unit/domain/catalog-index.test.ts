/** The catalog: one entry per name over all releases, found, sorted and addressed. */
import { describe, expect, it } from "vitest";
import { buildCatalog, findEntry } from "../../../lib/domain/catalog/catalog-index.ts";
import {
  entryPath,
  nameOfSegments,
  readCatalogQuery,
  selectEntries,
  writeCatalogQuery,
} from "../../../lib/domain/catalog/catalog-query.ts";
import { imageSpans, minorGrid, versionSpans } from "../../../lib/domain/catalog/version-spans.ts";
import { extension, HISTORY, releaseWith } from "../../fixtures/catalogs.ts";

const index = buildCatalog(HISTORY);
const select = (query: string) => selectEntries(index, readCatalogQuery(new URLSearchParams(query)));
const titles = (query: string) => select(query).map((entry) => entry.title);

describe("the index", () => {
  it("has every name once, with its releases newest first and the newest texts", () => {
    const probe = findEntry(index, "extension", "acme/probe");
    expect(probe).toMatchObject({
      title: "probe",
      namespace: "acme",
      tier: "core",
      description: "About acme/probe",
    });
    expect(probe?.versions.map(({ talos, version }) => [talos, version])).toEqual([
      ["v1.12.4", "0.2"],
      ["v1.10.7", "0.1"],
    ]);
    expect(new Set(index.entries.map((entry) => entry.kind + entry.name)).size).toBe(index.entries.length);
    expect(index.releases[0]).toBe("v1.13.2");
  });

  it("knows the names of the past", () => {
    expect(findEntry(index, "extension", "siderolabs/i915")?.formerNames).toEqual(["siderolabs/i915-ucode"]);
  });

  it("takes the first of two entries with one name, as builds do", () => {
    const twice = { ...releaseWith("v1.13.0", ["x:1"]), extensions: [extension("x:1"), extension("x:2")] };
    expect(
      buildCatalog([twice]).entries.filter((entry) => entry.kind === "extension")[0]?.versions,
    ).toMatchObject([{ version: "1" }]);
  });

  it("keeps a name that is an extension and an overlay apart", () => {
    const both = buildCatalog([releaseWith("v1.13.0", ["rpi_5"], ["siderolabs/rpi_5"])]);
    expect(both.entries.map((entry) => entry.kind)).toEqual(["extension", "overlay"]);
  });
});

describe("a query", () => {
  it("finds by name, old name, purpose and namespace", () => {
    expect(titles("q=i915-ucode")).toContain("i915");
    expect(titles("q=about+zfs")).toEqual(["zfs"]);
    expect(titles("q=acme")).toEqual(["probe"]);
    expect(titles("list=overlays")).toEqual(["rpi_5", "rpi_generic"]);
  });

  it("shows what one release has", () => {
    expect(titles("talos=1.13.2")).toEqual(["brand-new", "gvisor", "i915", "zfs"]);
    expect(titles("talos=v9.9.9")).toEqual([]);
  });

  it("sorts by number in both directions", () => {
    expect(titles("talos=v1.12.4&sort=version")).toEqual(["probe", "zfs", "gvisor", "i915"]);
    expect(titles("talos=v1.12.4&sort=-version")).toEqual(["i915", "gvisor", "zfs", "probe"]);
    expect(select("sort=-talos")[0]?.versions[0]?.talos).toBe("v1.13.2");
  });

  it("is written as it is read", () => {
    for (const text of ["", "list=overlays", "q=a+b&talos=v1.13.2&sort=-talos", "sort=-name"]) {
      const query = readCatalogQuery(new URLSearchParams(text));
      const again = writeCatalogQuery(query).split("?")[1] ?? "";
      expect(readCatalogQuery(new URLSearchParams(again))).toEqual(query);
    }
    expect(readCatalogQuery(new URLSearchParams("list=x&sort=y"))).toMatchObject({
      list: "extensions",
      sort: "name",
    });
  });

  it("leads to a page of its own for every name", () => {
    for (const entry of index.entries.filter((one) => one.kind === "extension")) {
      const [namespace = "", name = ""] = entryPath(entry).split("/").slice(3).map(decodeURIComponent);
      expect(nameOfSegments(namespace, name)).toBe(entry.name);
    }
    expect(entryPath({ kind: "extension", name: "a/b/c d" })).toBe("/catalog/extensions/a%2Fb/c%20d");
    expect(nameOfSegments("-", "plain")).toBe("plain");
  });
});

describe("spans", () => {
  const offered = ["v1.9.5", "v1.10.0", "v1.10.7", "v1.12.4", "v1.13.2"];
  it("join what has no gap between", () => {
    expect(versionSpans(offered, ["v1.13.2", "v1.10.0", "v1.10.7", "v1.8.0"])).toEqual([
      { from: "v1.13.2", to: "v1.13.2" },
      { from: "v1.10.0", to: "v1.10.7" },
    ]);
    expect(versionSpans(offered, [])).toEqual([]);
  });

  it("join neighbours that have the same image", () => {
    const entry = findEntry(index, "extension", "siderolabs/gvisor");
    const spans = imageSpans(entry?.versions ?? []).map(({ from, to, image }) => [from, to, image.version]);
    expect(spans).toEqual([
      ["v1.13.2", "v1.13.2", "4"],
      ["v1.12.4", "v1.12.4", "3"],
      ["v1.10.7", "v1.10.7", "2"],
      ["v1.6.8", "v1.9.5", "1"],
    ]);
  });

  it("stand in a grid by minor line", () => {
    expect(minorGrid(offered, ["v1.10.7"])[2]).toEqual({
      minor: "1.10",
      cells: [
        { version: "v1.10.0", has: false },
        { version: "v1.10.7", has: true },
      ],
    });
  });
});
