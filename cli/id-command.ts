/** `casthouse id <schematic.yaml>`: the ID the service gives to a schematic. */
import { readFile } from "node:fs/promises";
import { schematicId } from "../lib/domain/schematic-id.ts";
import { parseSchematic } from "../lib/domain/schematic-parse.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import type { CommandIo } from "./command-io.ts";

/** Writes the ID; "-" reads standard input. */
export async function idCommand(args: string[], io: CommandIo): Promise<void> {
  const [file, ...rest] = args;
  if (file === undefined || rest.length > 0)
    throw invalidInput("casthouse id takes one schematic file, or -");
  const text = file === "-" ? await io.readInput() : await readFile(file, "utf8");
  io.out.write(`${schematicId(parseSchematic(text))}\n`);
}
