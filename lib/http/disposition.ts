/** Content-Disposition for downloads, RFC 6266: safe for any name a caller invents. */

const MAX_NAME_CHARS = 200;

/** Control characters, quotes, backslashes and path separators become "_"; never empty. */
export function safeFileName(name: string): string {
  const clean = Array.from(name, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code < 32 || code === 127 || '"\\/'.includes(char) ? "_" : char;
  })
    .slice(0, MAX_NAME_CHARS)
    .join("");
  return clean === "" || /^\.+$/.test(clean) ? "download" : clean;
}

const percent = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9!#$&+.^_`|~-]/.test(char)
      ? char
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");

/** `attachment; filename="…"`, with a `filename*` beside it when the name is not plain ASCII (RFC 8187). */
export function attachment(name: string): string {
  const safe = safeFileName(name);
  const ascii = safe.replace(/[^\x20-\x7e]/g, "_");
  const header = `attachment; filename="${ascii}"`;
  return ascii === safe ? header : `${header}; filename*=UTF-8''${percent(safe)}`;
}
