/** The API page's reading of the OpenAPI document. */
import { describe, expect, it } from "vitest";
import { curlOf, operationGroups } from "../../../app/api/operations.ts";

const operations = operationGroups().flatMap((group) => group.operations);

describe("operations", () => {
  it("are read from the document, each with an anchor of its own", () => {
    expect(operations.length).toBeGreaterThan(15);
    expect(new Set(operations.map((operation) => operation.anchor)).size).toBe(operations.length);
    expect(operations.find(({ path }) => path === "/schematics")).toMatchObject({ method: "post" });
  });

  it("come with a command that fits them", () => {
    const base = "http://factory.lan:3000";
    expect(curlOf({ method: "post", path: "/schematics" }, base)).toBe(
      "curl -X POST --data-binary @schematic.yaml 'http://factory.lan:3000/schematics'",
    );
    expect(curlOf({ method: "get", path: "/api/v1/builds/{id}/events" }, base)).toMatch(/^curl -N '/);
  });
});
