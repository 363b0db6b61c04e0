/** A schematic as it is kept, apart from the other contracts so that each of them can name it. */
import type { Schematic } from "../../domain/schematic-types.ts";

export interface StoredSchematic {
  id: string;
  /** Canonical YAML, exactly the bytes that hash to the id. */
  canonical: string;
  /** What was posted, decoded. Not the canonical text read again: a few texts do not survive that. */
  schematic: Schematic;
}
