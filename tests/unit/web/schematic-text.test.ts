/** The text of a schematic on its page: an embedded configuration is folded until it is asked for. */
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { SchematicText } from "../../../components/result/schematic-text.tsx";
import { createWords } from "../../../components/words/translator.ts";
import { WordsProvider } from "../../../components/words/words-provider.tsx";
import { canonicalSchematic } from "../../../lib/domain/schematic-canonical.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import en from "../../../messages/en.json" with { type: "json" };

const words = createWords("en", en);
const TEXT = "customization:\n  embeddedMachineConfiguration: |\n    token: s3cret\n    ca: x\n";

function html(text: string, reveal: boolean): string {
  const schematic = parseSchematic(text);
  const canonical = canonicalSchematic(schematic);
  const props = { words, canonical, schematic, reveal, revealHref: "/schematics/1?reveal=configuration" };
  const page = createElement(SchematicText, props);
  // biome-ignore lint/correctness/noChildrenProp: the type of the provider asks for it, and this is no JSX
  return renderToStaticMarkup(createElement(WordsProvider, { language: "en", messages: en, children: page }));
}

test("the page does not hold the configuration before it is asked for", () => {
  const folded = html(TEXT, false);
  expect(folded).not.toContain("s3cret");
  expect(folded).toContain("(secret, 2 lines)");
  expect(folded).toContain('href="/schematics/1?reveal=configuration"');
});

test("it shows all when asked, and always what has no configuration", () => {
  expect(html(TEXT, true)).toContain("s3cret");
  expect(html("customization:\n  extraKernelArgs: [quiet]\n", false)).toContain("- quiet");
});
