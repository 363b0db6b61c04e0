/** The prototype file mkfs.xfs fills a file system from, without mounting it: mkfs.xfs(8), option -p. */
import { AppError } from "../errors/app-error.ts";

export type ProtoNode =
  | { type: "file"; name: string; mode: number; source: string }
  | { type: "directory"; name: string; mode: number; children: readonly ProtoNode[] };

const octal = (mode: number): string => mode.toString(8).padStart(3, "0");

/** Names and source paths end at a blank in this format; there is no quoting. */
function requireWord(text: string): string {
  if (text === "" || /\s/.test(text)) {
    throw new AppError(
      "internal",
      `"${text}" cannot be put into a file system: the name is empty or holds a blank`,
      {
        retryable: false,
      },
    );
  }
  return text;
}

const byName = (a: ProtoNode, b: ProtoNode): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function lines(children: readonly ProtoNode[], depth: number): string[] {
  const indent = " ".repeat(depth);
  const sorted = [...children].sort(byName);
  const files = sorted.filter((child) => child.type === "file");
  const directories = sorted.filter((child) => child.type === "directory");
  return [
    ...files.map(
      ({ name, mode, source }) =>
        `${indent}${requireWord(name)} ---${octal(mode)} 0 0 ${requireWord(source)}`,
    ),
    ...directories.flatMap(({ name, mode, children: inner }) => [
      `${indent}${requireWord(name)} d--${octal(mode)} 0 0`,
      ...lines(inner, depth + 1),
      `${indent}$`,
    ]),
  ];
}

/**
 * Text of the prototype file: in each directory the files first, then the directories, both by name; everything
 * belongs to root. internal when a name or a source path holds a blank.
 */
export function protofile(children: readonly ProtoNode[]): string {
  return `${["/", "0 0", "d--755 0 0", ...lines(children, 1), "$"].join("\n")}\n`;
}
