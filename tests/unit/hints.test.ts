/** Hints are sentences: they begin with a capital, or with the name of a page, a program or a field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const NAMES = /^(docs\/|casthouse |chmod |container: |manifest\.yaml |talosctl )/;

/** Texts that an expression may give, up to the first thing put into them. */
function textsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) return [node.head.text];
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  return ts.isParenthesizedExpression(node) ? textsOf(node.expression) : [];
}

function hintsIn(file: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const named = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node);
    if (named && node.name.getText() === "hint" && node.initializer) found.push(...textsOf(node.initializer));
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  return found;
}

it("begin with a capital or a name", () => {
  const files = ["api", "app", "cli", "lib", "workers"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.startsWith("db/generated"))
      .map((file) => join(folder, file)),
  );
  const hints = files.filter((file) => /\bhint\b/.test(readFileSync(file, "utf8"))).flatMap(hintsIn);
  expect(hints.length).toBeGreaterThan(200);
  expect(hints.filter((hint) => /^[a-z]\S* \S/.test(hint) && !NAMES.test(hint))).toEqual([]);
});
