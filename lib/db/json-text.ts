/** JSON for jsonb columns, which refuse two things that JavaScript strings may hold: NUL and lone surrogates. */

/** JSON text that Postgres takes; what it cannot hold becomes U+FFFD. For texts that people read. */
export function toJsonText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "string" ? storable(item) : item));
}

/** JSON text that gives back exactly the same value through fromExactJson, whatever the strings hold. */
export function toExactJsonText(value: unknown): string {
  const plain = JSON.stringify(value);
  return toJsonText(value) === plain ? plain : JSON.stringify({ json: plain });
}

/** The value behind toExactJsonText, from the parsed column. */
export function fromExactJson(column: unknown): unknown {
  if (typeof column !== "object" || column === null || !("json" in column)) return column;
  return typeof column.json === "string" && Object.keys(column).length === 1
    ? JSON.parse(column.json)
    : column;
}

function storable(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8").replaceAll("\0", "\uFFFD");
}
