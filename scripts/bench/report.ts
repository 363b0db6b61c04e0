/** Turns measured runs into rows with a median, a target and their ratio, and prints them. */
import { cpus, loadavg } from "node:os";

export interface Row {
  group: string;
  name: string;
  /** Medians. */
  value: number;
  unit: string;
  target: number | null;
  /** value / target for times and sizes, target / value for rates: at most 1 is good. */
  ratio: number | null;
  /** Further columns for people. */
  notes: string;
}

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A row whose value should be small. */
export function atMost(row: Omit<Row, "ratio">): Row {
  const { value, target } = row;
  // What must be nothing is good when it is, and has no measure of how bad it is.
  const ratio = target === 0 ? (value === 0 ? 0 : Number.POSITIVE_INFINITY) : target && value / target;
  return { ...row, ratio };
}

/** A row whose value should be large. */
export function atLeast(row: Omit<Row, "ratio">): Row {
  return { ...row, ratio: row.target === null ? null : row.target / row.value };
}

/** Three significant digits where there are fractions. */
export const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(value >= 10 ? 3 : 2);

/** The table, one line per row, columns aligned. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ group, name, value, unit, target, ratio, notes }) => [
    group,
    name,
    `${figure(value)} ${unit}`,
    target === null ? "" : `${figure(target)} ${unit}`,
    ratio === null ? "" : `${ratio.toFixed(2)}${ratio > 1 ? " !" : ""}`,
    notes,
  ]);
  const all = [["group", "what", "median", "target", "ratio", ""], ...lines];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? [];
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** What the figures were measured on. */
export function machine(): { processors: number; model: string; node: string; load: number[] } {
  const [first] = cpus();
  return {
    processors: cpus().length,
    model: first?.model ?? "unknown",
    node: process.version,
    load: loadavg().map((value) => Math.round(value * 10) / 10),
  };
}
