/** Language and theme of a request: query (through the proxy), cookie, Accept-Language. */
import { cookies, headers } from "next/headers";
import {
  createWords,
  LANGUAGES,
  type Language,
  type Messages,
  type Words,
} from "../components/words/translator.ts";
import en from "../messages/en.json" with { type: "json" };
import fr from "../messages/fr.json" with { type: "json" };
import { LANGUAGE_COOKIE, LANGUAGE_HEADER, PATH_HEADER, THEME_COOKIE } from "./request-names.ts";

const CATALOGUES: Record<Language, Messages> = { en, fr };

const known = (text: string | null | undefined): Language | null =>
  LANGUAGES.find((language) => language === text) ?? null;

/** The best known language of an Accept-Language header (RFC 9110 section 12.5.4), null when it names none. */
export function acceptedLanguage(header: string | null): Language | null {
  const wishes = (header ?? "").split(",").map((item, index) => {
    const [tag = "", ...parameters] = item.trim().toLowerCase().split(";");
    const weight = parameters.map((p) => /^\s*q=([\d.]+)$/.exec(p)?.[1]).find((q) => q !== undefined);
    return { language: known(tag.split("-")[0]), weight: weight === undefined ? 1 : Number(weight), index };
  });
  const usable = wishes.filter((wish) => wish.language !== null && wish.weight > 0);
  usable.sort((a, b) => b.weight - a.weight || a.index - b.index);
  return usable[0]?.language ?? null;
}

/** Language of the current request. */
export async function requestLanguage(): Promise<Language> {
  const [header, cookie] = [await headers(), await cookies()];
  return (
    known(header.get(LANGUAGE_HEADER)) ??
    known(cookie.get(LANGUAGE_COOKIE)?.value) ??
    acceptedLanguage(header.get("accept-language")) ??
    "en"
  );
}

export const messagesOf = (language: Language): Messages => CATALOGUES[language];

/** Words of the current request, for server components. */
export async function requestWords(): Promise<Words> {
  const language = await requestLanguage();
  return createWords(language, messagesOf(language));
}

/** Path and query of the page that is shown, without the language switch. */
export async function requestPath(): Promise<string> {
  return (await headers()).get(PATH_HEADER) ?? "/";
}

/** The theme the person chose, null to follow the system. */
export async function requestTheme(): Promise<"light" | "dark" | null> {
  const value = (await cookies()).get(THEME_COOKIE)?.value;
  return value === "light" || value === "dark" ? value : null;
}
