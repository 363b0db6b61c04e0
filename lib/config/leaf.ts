/** One environment variable: how it is read, where it stands in the documents, what they say about it. */
import { z } from "zod";

export const GROUPS = {
  web: "Web",
  data: "Data",
  storage: "Object store",
  source: "Source registry",
  installers: "Registry for installers",
  build: "Builds",
  keys: "Keys",
  own: "Own extensions",
  running: "Running",
} as const;

export interface LeafMeta {
  group: keyof typeof GROUPS;
  /** What holds when the variable is not set, in words; left out where the schema itself has the default. */
  default?: string;
  /** True: also read from the file named by NAME_FILE, never logged. */
  secret?: boolean;
  /** Known already, but nothing uses it yet; setting it is a warning. */
  planned?: boolean;
}

export const leafMeta = z.registry<LeafMeta>();

/** A schema with its place and words in the documents. */
export function leaf<S extends z.ZodType>(schema: S, meta: LeafMeta, description: string): S {
  const described = schema.describe(description);
  leafMeta.add(described, meta);
  return described;
}
