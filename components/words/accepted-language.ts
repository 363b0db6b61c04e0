/** Which of our languages a browser asks for. */
import { LANGUAGES, type Language } from "./translator.ts";

/** The language with this code, or null. */
export const knownLanguage = (text: string | null | undefined): Language | null =>
  LANGUAGES.find((language) => language === text) ?? null;

/** The best known language of an Accept-Language header (RFC 9110 section 12.5.4), null when it names none. */
export function acceptedLanguage(header: string | null): Language | null {
  const wishes = (header ?? "").split(",").map((item, index) => {
    const [tag = "", ...parameters] = item.trim().toLowerCase().split(";");
    const weight = parameters.map((p) => /^\s*q=([\d.]+)$/.exec(p)?.[1]).find((q) => q !== undefined);
    return {
      language: knownLanguage(tag.split("-")[0]),
      weight: weight === undefined ? 1 : Number(weight),
      index,
    };
  });
  const usable = wishes.filter((wish) => wish.language !== null && wish.weight > 0);
  usable.sort((a, b) => b.weight - a.weight || a.index - b.index);
  return usable[0]?.language ?? null;
}
