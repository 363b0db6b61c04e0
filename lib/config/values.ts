/** Kinds of values that environment variables hold; each says in a few words what it wants. */
import { z } from "zod";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of "90s", "15m", "1h30m"; null when the text is no duration. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(ms|s|m|h|d))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhd])/g)) {
    total +=
      Number(count) *
      (unit === "ms" || unit === "s" || unit === "m" || unit === "h" || unit === "d" ? UNIT_MS[unit] : 0);
  }
  return Number.isSafeInteger(total) ? total : null;
}

/** A duration between two others, in milliseconds. */
export const duration = (min: string, max: string) =>
  converted(`a duration like 90s, 15m or 1h30m, from ${min} to ${max}`, (text) => {
    const value = parseDuration(text);
    return value !== null && value >= (parseDuration(min) ?? 0) && value <= (parseDuration(max) ?? 0)
      ? value
      : null;
  });

export const wholeNumber = (min: number, max: number) =>
  converted(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : null;
  });

export const yesNo = () =>
  converted("true or false", (text) => {
    if (/^(true|yes|1|on)$/i.test(text)) return true;
    return /^(false|no|0|off)$/i.test(text) ? false : null;
  });

export const oneOf = <const T extends string>(values: readonly T[]) =>
  converted(`one of ${values.join(", ")}`, (text) => values.find((value) => value === text) ?? null);

/** An http or https address without credentials, query or trailing slash; a path only where it is allowed. */
export const webAddress = (options: { path: boolean }) =>
  converted(
    `an address like https://host:port${options.path ? " or https://host/prefix" : " without a path"}, without user name, password or query`,
    (text) => {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) return null;
      if (url.username || url.password || url.search || url.hash) return null;
      const path = url.pathname.replace(/\/+$/, "");
      return path !== "" && !options.path ? null : url.origin + path;
    },
  );

/** A connection address with one of the given schemes, kept as it is. */
export const serverAddress = (schemes: readonly string[]) =>
  converted(`an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`, (text) => {
    const ok = URL.canParse(text) && schemes.some((scheme) => text.startsWith(`${scheme}://`));
    return ok ? text : null;
  });

const VERSION = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;

/** A version number; a leading "v" is taken off. */
export const version = () => converted("a version like 1.2.0", (text) => VERSION.exec(text)?.[1] ?? null);

/** Versions with commas between them; leading "v"s are taken off. */
export const versionList = () =>
  converted("versions like 1.9.0,1.10.3 with commas between them", (text) => {
    const found = text.split(",").map((part) => VERSION.exec(part.trim())?.[1]);
    const valid = found.filter((part) => part !== undefined);
    return valid.length === found.length ? valid : null;
  });

const IMAGE =
  /^([a-z0-9]+(?:[._/-][a-z0-9]+)*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** An image of the source registry, with a tag or a digest or neither. */
export const imageOfSource = () =>
  converted("an image like mirror/imager, mirror/imager:tag or mirror/imager@sha256:…", (text) => {
    const [, repository, tag, digest] = IMAGE.exec(text) ?? [];
    return repository === undefined ? null : { repository, tag: tag ?? null, digest: digest ?? null };
  });

/** Host names or addresses, each with a port or not, with commas between them. */
export const hostList = () =>
  converted("hosts like registry.lan,10.0.0.5:5000 with commas between them", (text) => {
    const hosts = text.split(",").map((part) => part.trim());
    return hosts.every((host) => /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/.test(host))
      ? hosts
      : null;
  });

/** Any text that fits the pattern. */
export const textLike = (wanted: string, pattern: RegExp) =>
  converted(wanted, (text) => (pattern.test(text) ? text : null));

/** The text of a regular expression. */
export const pattern = () =>
  converted("a regular expression", (text) => {
    try {
      new RegExp(text);
      return text;
    } catch {
      return null;
    }
  });

/** An exact https address, or a regular expression that begins with "^". */
export const addressOrPattern = () =>
  converted('an address like https://host, or a regular expression that begins with "^"', (text) => {
    if (!text.startsWith("^")) return /^https?:\/\/\S+$/.test(text) ? text : null;
    return pattern().safeParse(text).data ?? null;
  });

/** What SOURCE_VERIFY says. */
export const verification = () =>
  converted("keyless, key:<file with a public key> or off", (text) => {
    if (text === "off") return { kind: "off" as const };
    if (text === "keyless") return { kind: "keyless" as const };
    const file = /^key:(.+)$/.exec(text)?.[1];
    return file === undefined ? null : { kind: "key" as const, file };
  });

/** A string schema whose text is converted; null from `convert` is the problem "must be <wanted>". */
function converted<T>(wanted: string, convert: (text: string) => T | null) {
  return z.string().transform((text, context): T => {
    const value = convert(text);
    if (value !== null) return value;
    context.issues.push({ code: "custom", input: text, message: `must be ${wanted}` });
    return z.NEVER;
  });
}
