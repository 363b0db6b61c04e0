import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanPath, RouteTable } from "../../../lib/http/route-table.ts";

const table = new RouteTable([
  { method: "GET", pattern: "/versions" },
  { method: "POST", pattern: "/schematics" },
  { method: "GET", pattern: "/schematics/:id" },
  { method: "GET", pattern: "/image/:id/:version/:path" },
  { method: "HEAD", pattern: "/image/:id/:version/:path" },
  { method: "GET", pattern: "/v2/*" },
]);

describe("route table", () => {
  it.each([
    ["GET", "/versions", "found"],
    ["GET", "/schematics/abc", "found"],
    ["HEAD", "/image/a/b/c", "found"],
    ["GET", "/image//v1/kernel-amd64", "unknown"],
    ["GET", "/v2/", "found"],
    ["GET", "/v2/a/b/c", "found"],
    ["HEAD", "/versions", "wrong-method"],
    ["GET", "/schematics", "wrong-method"],
    ["GET", "/schematics/", "unknown"],
    ["GET", "/nope", "unknown"],
    ["GET", "/schematics/x/y", "unknown"],
  ])("%s %s is %s", (method, path, kind) => {
    expect(table.match(method, path).kind).toBe(kind);
  });

  it.each([
    ["GET", "/versions/", "/versions"],
    ["GET", "//versions", "/versions"],
    ["GET", "/./versions", "/versions"],
    ["GET", "/x/../versions", "/versions"],
    ["GET", "/VERSIONS", "/versions"],
    ["POST", "/schematics/", "/schematics"],
    ["GET", "/image/a/b/c/", "/image/a/b/c"],
    ["GET", "/Image/a/B/c", "/image/a/B/c"],
    ["GET", "/talosctl/..%2f..%2fversions", "/versions"],
  ])("%s %s moves to %s", (method, path, location) => {
    expect(table.match(method, path)).toEqual({ kind: "moved", location });
  });

  it("names the methods of a path in Allow, sorted, with OPTIONS", () => {
    expect(table.match("PUT", "/image/a/b/c")).toEqual({ kind: "wrong-method", allow: "GET, HEAD, OPTIONS" });
  });

  it("never moves a request out of the site or into another line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (rest) => {
        const match = table.match("GET", `/${rest}`);
        if (match.kind === "moved") {
          expect(match.location).toMatch(/^\/[\x21-\x7e]*$/);
          expect(match.location.startsWith("//")).toBe(false);
        }
      }),
    );
  });

  it("cleans idempotently", () => {
    fc.assert(
      fc.property(fc.string(), (s) => {
        expect(cleanPath(cleanPath(s))).toBe(cleanPath(s));
      }),
    );
  });
});
