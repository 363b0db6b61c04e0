/** The two catalogues say the same things, and nothing is in them that no page says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acceptedLanguage } from "../../../components/words/accepted-language.ts";
import { createWords } from "../../../components/words/translator.ts";
import en from "../../../messages/en.json" with { type: "json" };
import fr from "../../../messages/fr.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../../..");
const entries: [string, string][] = Object.entries(en);
const french: Record<string, string> = fr;

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"));
}

const code = ["app", "components"].flatMap(sources).join("\n");

/** Patterns of keys that the code puts together: t(`phase.${…}`). */
const composed = [...code.matchAll(/`([a-z.-]+\.\$\{[^`]+\}[a-z.-]*)`/g)].map(
  ([, template = ""]) => new RegExp(`^${template.replace(/\./g, "\\.").replace(/\$\{[^}]+\}/g, "[\\w-]+")}$`),
);

const isUsed = (key: string): boolean =>
  code.includes(`"${key}"`) ||
  code.includes(`"${key.replace(/\.(one|other)$/, "")}"`) ||
  composed.some((pattern) => pattern.test(key));

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe("catalogues", () => {
  it("hold the same keys in the same order", () => {
    expect(Object.keys(fr)).toEqual(Object.keys(en));
  });

  it("fill in the same names in both languages", () => {
    for (const [key, text] of entries)
      expect(placeholders(french[key] ?? ""), key).toEqual(placeholders(text));
  });

  it("hold nothing that no page uses", () => {
    expect(entries.map(([key]) => key).filter((key) => !isUsed(key))).toEqual([]);
  });

  it("hold every sentence that a page asks for by its name", () => {
    const asked = [...code.matchAll(/\b(t|plural)\(\s*"([^"]+)"/g)].map(([, kind, key]) =>
      kind === "plural" ? `${key}.one` : `${key}`,
    );
    expect(asked.length).toBeGreaterThan(200);
    expect(asked.filter((key) => !Object.hasOwn(en, key))).toEqual([]);
    expect(composed.filter((pattern) => !entries.some(([key]) => pattern.test(key)))).toEqual([]);
  });

  it("have both forms of every count", () => {
    const bases = entries.flatMap(([key]) => (key.endsWith(".one") ? [key.slice(0, -4)] : []));
    for (const base of bases) expect(en, base).toHaveProperty([`${base}.other`]);
  });

  it("leave no sentence untranslated except names", () => {
    const same = entries
      .filter(([key, text]) => french[key] === text && text.includes(" "))
      .map(([key]) => key);
    expect(same).toEqual([]);
  });

  it("write French with its spaces and apostrophes", () => {
    for (const text of Object.values(french)) {
      expect(text).not.toMatch(/[^\u202f][;?!»]|«[^\u202f]/);
      expect(text).not.toMatch(/[^\u00a0]:(\s|$)/);
      expect(text).not.toContain("'");
    }
  });

  it("call one thing by one name in French", () => {
    const second =
      /surcouche|embarqué|installeur|ouvrier|inscription|compartiment|chargeur de démarrage|\bID\b/i;
    expect(Object.entries(french).filter(([, text]) => second.test(text.replace(/\{\w+\}/g, "")))).toEqual(
      [],
    );
  });
});

describe("words", () => {
  const english = createWords("en", en);
  const words = createWords("fr", fr);

  it("writes sizes, times and counts as each language does", () => {
    expect(english.size(95_123_456)).toBe("95.1 MB");
    expect(words.size(95_123_456)).toMatch(/^95,1\s*Mo$/);
    expect([english.size(668), words.size(0)]).toEqual(["668\u00a0B", "0\u00a0o"]);
    expect(english.duration(420)).toBe("0.4\u00a0s");
    expect(words.duration(2_450)).toBe("2,5\u00a0s");
    expect(english.duration(125_000)).toBe("2\u00a0min 5\u00a0s");
    expect(english.plural("extensions.chosen", 1)).toBe("1 chosen");
    expect(words.plural("extensions.chosen", 0)).toBe("0 choisie");
    expect(words.plural("extensions.chosen", 2)).toBe("2 choisies");
  });
});

describe("accepted language", () => {
  it.each([
    ["fr-FR,fr;q=0.9,en;q=0.8", "fr"],
    ["en;q=0.2, fr;q=0.3", "fr"],
    ["de, pl", null],
    ["de,en-GB;q=0.7", "en"],
    ["fr;q=0,en", "en"],
    ["", null],
    [null, null],
  ])("of %s is %s", (header, language) => {
    expect(acceptedLanguage(header)).toBe(language);
  });
});
