/** Writes docs/openapi.json and docs/api.md from the routes themselves (`npm run gen`). */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { buildApp } from "../api/app.ts";
import { openapiDocument } from "../api/openapi.ts";
import type { Services } from "../lib/services/contracts.ts";

/** No route is asked here, so no service is needed; asking for one is a mistake of this script. */
const services: Services = new Proxy(Object.create(null), {
  get: (_target, name) => {
    throw new Error(`the service ${String(name)} is not there while the API is described`);
  },
});

const operationSchema = z.object({
  tags: z.array(z.string()).default(["other"]),
  summary: z.string().default(""),
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
  responses: z.record(z.string(), z.object({ description: z.string().default("") })),
});
const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) });

/** docs/openapi.json */
export function renderOpenApi(): string {
  const app = buildApp({ services, publicUrl: "http://localhost:3000", onFailure: () => undefined });
  return `${JSON.stringify(openapiDocument(app), null, 2)}\n`;
}

/** docs/api.md: the same as a list for reading. */
export function renderApiPage(): string {
  const { paths } = documentSchema.parse(JSON.parse(renderOpenApi()));
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), rowOf(method, path, operation)]);
    }
  }
  const lines = [
    "# API",
    "",
    "<!-- Written by `npm run gen` from the routes in api/; change them there. -->",
    "",
    "A running factory shows this with parameters and examples at `/api`, and as OpenAPI 3.1 at `/openapi.json`; the same",
    "document is [openapi.json](openapi.json). Where a factory answers otherwise than the public one: [compat.md](compat.md).",
  ];
  for (const [tag, rows] of groups)
    lines.push(
      "",
      `## ${tag}`,
      "",
      "| request | what it gives | parameters | answers |",
      "| --- | --- | --- | --- |",
      ...rows,
    );
  return `${lines.join("\n")}\n`;
}

function rowOf(method: string, path: string, operation: z.infer<typeof operationSchema>): string {
  const parameters = operation.parameters
    .filter((parameter) => parameter.in !== "path")
    .map((parameter) => `\`${parameter.name}\` (${parameter.in})`);
  const cells = [
    `\`${method.toUpperCase()} ${path}\``,
    operation.summary,
    parameters.join(", ") || "none",
    Object.keys(operation.responses).join(", "),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync("docs/openapi.json", renderOpenApi());
  writeFileSync("docs/api.md", renderApiPage());
}
