/** What a process remembers of schematics: those it has seen, the IDs of none, and the texts that were posted. */
import { LRUCache } from "lru-cache";
import type { StoredSchematic } from "../contracts.ts";

const KNOWN_ENTRIES = 100_000;
/** Characters of canonical text held at most; many large schematics must not fill the memory. */
const KNOWN_CHARACTERS = 32_000_000;
const UNKNOWN_ENTRIES = 50_000;
/** Another process may store a schematic that this one knows to be missing. */
const UNKNOWN_MS = 30_000;
const TEXTS_CHARACTERS = 8_000_000;

export class SchematicMemory {
  readonly #known = new LRUCache<string, StoredSchematic>({
    max: KNOWN_ENTRIES,
    maxSize: KNOWN_CHARACTERS,
    sizeCalculation: (schematic) => schematic.canonical.length + 1,
  });
  readonly #unknown = new LRUCache<string, true>({ max: UNKNOWN_ENTRIES, ttl: UNKNOWN_MS });
  readonly #posted = new LRUCache<string, StoredSchematic>({
    maxSize: TEXTS_CHARACTERS,
    sizeCalculation: (_schematic, text) => text.length + 1,
  });

  /** The schematic, null for an ID that lately was of none, undefined when the table has to be asked. */
  find(id: string): StoredSchematic | null | undefined {
    return this.#known.get(id) ?? (this.#unknown.has(id) ? null : undefined);
  }

  /** What this very text gave before: whoever posts the same bytes again is answered without decoding them. */
  ofText(text: string): StoredSchematic | undefined {
    return this.#posted.get(text);
  }

  /** Keeps a schematic that is stored, and the text it was posted as. */
  keep(stored: StoredSchematic, text?: string): void {
    this.#known.set(stored.id, stored);
    this.#unknown.delete(stored.id);
    if (text !== undefined) this.#posted.set(text, stored);
  }

  /** Keeps that the table had no such row, unless it was created while the answer was on its way: then gives it. */
  missing(id: string): StoredSchematic | null {
    const created = this.#known.get(id) ?? null;
    if (created === null) this.#unknown.set(id, true);
    return created;
  }
}
