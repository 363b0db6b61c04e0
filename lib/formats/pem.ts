/** PEM (RFC 7468): DER as text. */

/** The text block of `label`, 64 characters a line, with a newline at the end. */
export function pemText(label: string, bytes: Uint8Array): string {
  const lines = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
