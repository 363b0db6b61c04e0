/** The grub.cfg on the BOOT partition of a disk image. */
import { wipeArgument } from "../domain/cmdline.ts";
import { grubQuote } from "./grub-quote.ts";

export interface GrubDiskConfig {
  /** Version text shown in the entry's name, verbatim. */
  version: string;
  commandLine: string;
  /** True from the version on that can wipe itself (docs/versions.md, reset entry). */
  resetEntry: boolean;
}

const entry = (name: string, commandLine: string): string => `menuentry "${name}" {
  set gfxmode=auto
  set gfxpayload=text
  linux /A/vmlinuz ${commandLine}
  initrd /A/initramfs.xz
}
`;

/**
 * Whole text of grub.cfg. A running node reads it back with regular expressions when it upgrades: one
 * `set default="…"` line, entry names that start with A, B or Reset, closing braces on their own line.
 */
export function grubDiskConfig({ version, commandLine, resetEntry }: GrubDiskConfig): string {
  const name = `A - Talos ${version}`;
  const line = grubQuote(commandLine);
  const head = `set default="${name}"

set timeout=3

insmod all_video

terminal_input console
terminal_output console

`;
  const reset = entry(
    "Reset Talos installation and return to maintenance mode",
    `${line} ${wipeArgument("image")}`,
  );
  return head + entry(name, line) + (resetEntry ? reset : "");
}
