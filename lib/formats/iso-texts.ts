/** Texts of an ISO: the GRUB menu and the volume name. */
import { grubQuote } from "./grub-quote.ts";

const menuEntry = (title: string, kernelLine: string): string =>
  [
    `menuentry "${title}" {`,
    "\tset gfxmode=auto",
    "\tset gfxpayload=text",
    `\tlinux /boot/vmlinuz ${kernelLine}`,
    "\tinitrd /boot/initramfs.xz",
    "}",
    "",
  ].join("\n");

/** boot/grub/grub.cfg of an ISO. `commandLine` is unquoted; the reset entry wipes the system disk. */
export function isoGrubConfig(commandLine: string, hasResetEntry: boolean): string {
  const quoted = grubQuote(commandLine);
  const head = [
    "set default=0",
    "set timeout=3",
    "",
    "insmod all_video",
    "",
    "terminal_input console",
    "terminal_output console",
    "",
    "",
  ].join("\n");
  const entries = [menuEntry("Talos ISO", quoted)];
  if (hasResetEntry)
    entries.push(menuEntry("Reset Talos installation", `${quoted} talos.experimental.wipe=system`));
  return head + entries.join("\n");
}

/** ISO 9660 volume id of a release: capitals, digits and "_" (d-characters, ECMA-119 §7.4.1), 32 at most. */
export const isoVolumeId = (version: string): string =>
  `Talos-${version}`
    .toUpperCase()
    .replace(/[_.-]/g, "_")
    .replace(/[^A-Z0-9_]/g, "")
    .slice(0, 32);
