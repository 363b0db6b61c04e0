/** The documents about the API say what the routes say. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { renderApiPage, renderOpenApi } from "../../scripts/api-documents.ts";

it("docs/openapi.json and docs/api.md are what the routes say; run npm run gen when this fails", () => {
  expect(readFileSync("docs/openapi.json", "utf8")).toBe(renderOpenApi());
  expect(readFileSync("docs/api.md", "utf8")).toBe(renderApiPage());
});
