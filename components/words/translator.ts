/** Sentences, numbers, sizes, durations and dates of one language. Runs on the server and in the browser. */
import type en from "../../messages/en.json";

export const LANGUAGES = ["en", "fr"] as const;
export type Language = (typeof LANGUAGES)[number];
export type MessageKey = keyof typeof en;
export type Messages = Record<MessageKey, string>;

/** Start of a pair of keys that end in ".one" and ".other". */
export type PluralKey = MessageKey extends infer Key
  ? Key extends `${infer Base}.one`
    ? Base
    : never
  : never;

export interface Words {
  language: Language;
  /** The sentence with its {names} filled in. */
  t(key: MessageKey, values?: Record<string, string | number>): string;
  /** The sentence for a count, which fills {count}. */
  plural(key: PluralKey, count: number): string;
  /** 12,345.6 as the language writes it. */
  number(value: number, digits?: number): string;
  /** Bytes in decimal units: 95.1 MB. */
  size(bytes: number): string;
  /** Milliseconds as 0.4 s, 12 s or 2 min 5 s. */
  duration(ms: number): string;
  /** Day and time in UTC. */
  date(date: Date): string;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** "279 B": the short form writes bytes in full in English, and the narrow one has the symbol without a space. */
function formatBytes(language: Language, bytes: number): string {
  const narrow = new Intl.NumberFormat(language, { style: "unit", unit: "byte", unitDisplay: "narrow" });
  const parts = narrow.formatToParts(bytes).filter(({ type }) => type !== "literal");
  const unit = parts.find(({ type }) => type === "unit")?.value ?? "";
  const amount = parts.flatMap(({ type, value }) => (type === "unit" ? [] : [value])).join("");
  return `${amount}\u00a0${unit}`;
}

function formatSize(language: Language, bytes: number): string {
  if (bytes < 1000) return formatBytes(language, bytes);
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[power] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: value < 100 ? 1 : 0,
  }).format(value);
}

/** "s" and "min" are the symbols in every language here; a space that does not break stands before them. */
function formatDuration(language: Language, ms: number): string {
  const unit = (value: number, symbol: string, digits = 0) =>
    `${new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)}\u00a0${symbol}`;
  if (ms < 99.5) return unit(ms, "ms");
  const seconds = ms / 1000;
  if (seconds < 9.95) return unit(seconds, "s", 1);
  const whole = Math.round(seconds);
  if (whole < 60) return unit(whole, "s");
  const rest = whole % 60;
  return `${unit(Math.floor(whole / 60), "min")}${rest === 0 ? "" : ` ${unit(rest, "s")}`}`;
}

/** Fills `{name}` in a text; unknown names stay as they are. */
const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** The words of one language over its catalogue. */
export function createWords(language: Language, messages: Messages): Words {
  const rules = new Intl.PluralRules(language);
  const number = (value: number, digits = 1) =>
    new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
  const t: Words["t"] = (key, values = {}) => fill(messages[key], values);
  return {
    language,
    t,
    plural: (key, count) =>
      t(`${key}.${rules.select(count) === "one" ? "one" : "other"}`, { count: number(count) }),
    number,
    size: (bytes) => formatSize(language, bytes),
    duration: (ms) => formatDuration(language, ms),
    date: (date) =>
      `${new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(date)} UTC`,
  };
}
