/** The operations of the API as the API page shows them, read from the OpenAPI 3.1 document. */
import { z } from "zod";
import document from "../../docs/openapi.json" with { type: "json" };

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().default(false),
  schema: z.object({ enum: z.array(z.coerce.string()).optional() }).optional(),
});

const operationSchema = z.object({
  tags: z.array(z.string()).default(["other"]),
  summary: z.string().default(""),
  description: z.string().default(""),
  parameters: z.array(parameterSchema).default([]),
  responses: z.record(z.string(), z.object({ description: z.string().default("") })),
});

const METHODS = ["get", "head", "post", "put", "patch", "delete"] as const;
const pathSchema = z.partialRecord(z.enum(METHODS), operationSchema);
const documentSchema = z.object({ paths: z.record(z.string(), pathSchema) });

export type Operation = z.infer<typeof operationSchema> & {
  method: (typeof METHODS)[number];
  path: string;
  /** Anchor on the page. */
  anchor: string;
};

export interface OperationGroup {
  tag: string;
  operations: Operation[];
}

const anchorOf = (method: string, path: string): string =>
  `${method}-${path.replace(/[^\w]+/g, "-").replace(/^-|-$/g, "") || "root"}`;

/** All operations by tag, in the order of the document. */
export function operationGroups(): OperationGroup[] {
  const groups = new Map<string, Operation[]>();
  for (const [path, methods] of Object.entries(documentSchema.parse(document).paths)) {
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation === undefined) continue;
      const tag = operation.tags[0] ?? "other";
      const entry = { ...operation, method, path, anchor: anchorOf(method, path) };
      groups.set(tag, [...(groups.get(tag) ?? []), entry]);
    }
  }
  return [...groups].map(([tag, operations]) => ({ tag, operations }));
}

/** A curl line for an operation; {names} stay for the reader to fill in. */
export function curlOf({ method, path }: Pick<Operation, "method" | "path">, baseUrl: string): string {
  const verb = method === "get" ? "" : method === "head" ? "-I " : `-X ${method.toUpperCase()} `;
  const body = method === "post" && path === "/schematics" ? "--data-binary @schematic.yaml " : "";
  const follow = path.endsWith("/events") ? "-N " : "";
  return `curl ${follow}${verb}${body}'${baseUrl}${path}'`;
}
