/** Which folders a FAT file system needs before files can be copied into it. */
import { dirname } from "node:path";

/** Parent folders of the paths, each once (in the first spelling: FAT knows no case), each after the one it lies in. */
export function parentFolders(paths: readonly string[]): string[] {
  const folders = new Map<string, string>();
  const add = (folder: string): void => {
    if (folder === "." || folders.has(folder.toLowerCase())) return;
    add(dirname(folder));
    folders.set(folder.toLowerCase(), folder);
  };
  for (const path of paths) add(dirname(path));
  return [...folders.values()];
}
