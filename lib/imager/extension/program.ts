/** What an extension has that is run or loaded. */
import type { ElfFacts } from "../../formats/elf.ts";
import type { MappedFile } from "./file-map.ts";

/** A file that is run or loaded. */
export interface Program {
  entry: MappedFile;
  elf: ElfFacts | null;
  /** Words of the "#!" line of an executable script. */
  script: string[] | null;
}
