/** Quotes text for a GRUB script, so that a kernel command line reaches the kernel as it was written. */

/**
 * `text` with a backslash before every character that GRUB's script lexer would act on: `\ { } & $ | ; < > "`.
 * Blanks stay, they separate the arguments; `#`, `'`, `*` and `?` in the middle of a word mean nothing to GRUB.
 */
export function grubQuote(text: string): string {
  return text.replace(/[\\{}&$|;<>"]/g, (character) => `\\${character}`);
}
