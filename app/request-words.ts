/** Language and theme of a request: query (through the proxy), cookie, Accept-Language. */
import { cookies, headers } from "next/headers";
import { acceptedLanguage, knownLanguage } from "../components/words/accepted-language.ts";
import { createWords, type Language, type Messages, type Words } from "../components/words/translator.ts";
import en from "../messages/en.json" with { type: "json" };
import fr from "../messages/fr.json" with { type: "json" };
import { LANGUAGE_COOKIE, LANGUAGE_HEADER, PATH_HEADER, THEME_COOKIE } from "./request-names.ts";

const CATALOGUES: Record<Language, Messages> = { en, fr };

/** Language of the current request. */
export async function requestLanguage(): Promise<Language> {
  const [header, cookie] = [await headers(), await cookies()];
  return (
    knownLanguage(header.get(LANGUAGE_HEADER)) ??
    knownLanguage(cookie.get(LANGUAGE_COOKIE)?.value) ??
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
