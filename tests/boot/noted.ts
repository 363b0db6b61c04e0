/** What each boot was and what its guest reported: said in the test's output, and kept for the table of `npm run boots`. */
import { appendFile } from "node:fs/promises";
import { expect } from "vitest";
import { firmwareOf } from "../../scripts/boot/media.ts";
import type { BootMedium, BootResult } from "../../scripts/boot/qemu.ts";
import type { BootRow } from "../../scripts/boot/table.ts";

/** Notes a boot; `outcome` stands for the guest's words where no guest was to come up. */
export async function noteBoot(medium: BootMedium, result: BootResult, outcome?: string): Promise<void> {
  const row: BootRow = {
    what: (expect.getState().currentTestName ?? "").replace(" > ", " "),
    medium: mediumWords(medium),
    firmware: `${result.arch} ${firmwareOf(medium)}`,
    accelerator: result.accelerator,
    seconds: result.durationMs / 1000,
    reported: outcome ?? guestWords(result),
  };
  console.log(
    `${row.medium} ${row.firmware}: ${row.seconds.toFixed(1)} s (${row.accelerator}), ${row.reported}`,
  );
  const file = process.env.CASTHOUSE_BOOT_ROWS;
  if (file) await appendFile(file, `${JSON.stringify(row)}\n`);
}

function mediumWords(medium: BootMedium): string {
  if (medium.kind !== "disk") return medium.kind;
  const { controller = "virtio", sectorBytes = 512 } = medium.hardware ?? {};
  return `${medium.format ?? "raw"} disk, ${controller}, ${sectorBytes}`;
}

function guestWords({ markers }: BootResult): string {
  const real = markers.extensions.filter(({ name }) => name !== "schematic" && name !== "modules.dep");
  const facts = [
    `${markers.version} ${markers.machine}`,
    `schematic ${markers.schematic?.slice(0, 8) ?? "none"}`,
    `${real.length} extensions`,
    markers.bootMode === "uefi" ? `secure boot ${markers.secureBoot}` : null,
    markers.metaDisk === null ? null : `META ${JSON.stringify(markers.metaDisk)}`,
    Object.keys(markers.pcr11).length > 0 ? "PCR 11" : null,
  ];
  return facts.filter((fact) => fact !== null).join(", ");
}
