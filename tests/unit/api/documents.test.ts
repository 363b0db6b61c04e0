/** The documents about the API say what the routes say. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { dialectOf } from "../../../lib/http/failure.ts";
import { renderApiPage, renderOpenApi } from "../../../scripts/api-documents.ts";

it("docs/openapi.json and docs/api.md are what the routes say; run npm run gen when this fails", () => {
  expect(readFileSync("docs/openapi.json", "utf8")).toBe(renderOpenApi());
  expect(readFileSync("docs/api.md", "utf8")).toBe(renderApiPage());
});

const answerSchema = z.object({ content: z.record(z.string(), z.unknown()).default({}) });
const operationSchema = z.object({
  description: z.string().default(""),
  responses: z.record(z.string(), answerSchema),
});
const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) });

const operations = Object.entries(documentSchema.parse(JSON.parse(renderOpenApi())).paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, name: `${method} ${path}`, ...operation })),
);

it("every refusal is described in the dialect that its path is answered in", () => {
  const types = { problem: "application/problem+json", oci: "application/json", text: "text/plain" };
  const others = operations.flatMap(({ path, name, responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .filter(([, { content }]) => Object.keys(content).join() !== types[dialectOf(path)])
      .map(([status]) => `${name}: ${status}`),
  );
  expect(others).toEqual([]);
});

it("what only an administrator may do can be answered with 401 and 403", () => {
  const silent = operations
    .filter(({ description }) => description.includes("ADMIN_TOKEN"))
    .filter(({ responses }) => !("401" in responses && "403" in responses));
  expect(silent.map(({ name }) => name)).toEqual([]);
});
