/** The table of boots: rows that tests write while they run, one JSON object per line. */
import { readFile } from "node:fs/promises";

export interface BootRow {
  /** The test that booted. */
  what: string;
  medium: string;
  /** Architecture and firmware. */
  firmware: string;
  accelerator: string;
  seconds: number;
  /** What the guest said, in short. */
  reported: string;
}

const COLUMNS = ["what", "medium", "firmware", "accelerator", "seconds", "guest reported"];

/** Reads the rows of a file; a file that is not there has none. */
export async function readBootRows(file: string): Promise<BootRow[]> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter(Boolean);
  return lines.map((line): BootRow => JSON.parse(line));
}

/** The rows as a Markdown table. */
export function bootTable(rows: readonly BootRow[]): string {
  const cells = rows.map((row) => [
    ...[row.what, row.medium, row.firmware, row.accelerator, row.seconds.toFixed(1), row.reported],
  ]);
  const line = (columns: readonly string[]): string =>
    `| ${columns.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(COLUMNS), line(COLUMNS.map(() => "---")), ...cells.map(line)].join("\n");
}
