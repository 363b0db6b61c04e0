/** Where a program is. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";

/** Absolute path of the program in the first folder that has it; null when none has. */
export async function findProgram(path: string, name: string): Promise<string | null> {
  for (const folder of path.split(":")) {
    const file = `${folder}/${name}`;
    if (await isExecutable(file)) return file;
  }
  return null;
}

/** True when this account may run the file. */
export function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
