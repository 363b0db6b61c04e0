/** Pieces of shell snippets. */
import { fileUrl } from "./addresses.ts";
import type { SnippetContext } from "./types.ts";

/** Steps of which each runs only when the one before went well, also when they are pasted into a shell. */
export const chain = (steps: readonly string[]): string => steps.join(" &&\n");

/** A command over several lines. */
export const command = (lines: readonly string[]): string => lines.join(" \\\n  ");

/** Downloads a file under its name and checks it. */
export const fetchSteps = (context: SnippetContext, path: string): string[] =>
  downloadSteps(fileUrl(context, path));

/** The same by address. */
export function downloadSteps(url: string): string[] {
  return [`curl -fLO ${url}`, `curl -fsSL ${url}.sha256 | sha256sum -c`];
}

const PACKINGS: [suffix: string, unpack: string][] = [
  [".xz", "xz -df"],
  [".zst", "zstd -df --rm"],
  [".gz", "gzip -df"],
];

/** Name of a file without its packing, and the step that unpacks it; a tar archive stays packed. */
export function unpacked(path: string): { name: string; steps: string[] } {
  const packing = path.endsWith(".tar.gz") ? undefined : PACKINGS.find(([suffix]) => path.endsWith(suffix));
  if (packing === undefined) return { name: path, steps: [] };
  const [suffix, unpack] = packing;
  return { name: path.slice(0, -suffix.length), steps: [`${unpack} ${path}`] };
}
