/** Schematics: text in, id out; bytes back by id. Postgres keeps them, memory answers most questions. */
import { LRUCache } from "lru-cache";
import type { SchematicRepository } from "../db/schematic-repository.ts";
import { canonicalSchematic } from "../domain/schematic-canonical.ts";
import { schematicFromJson } from "../domain/schematic-from-json.ts";
import { idOfText } from "../domain/schematic-id.ts";
import { parseSchematic } from "../domain/schematic-parse.ts";
import { schematicToJson } from "../domain/schematic-to-json.ts";
import type { SchematicService, StoredSchematic } from "./contracts.ts";
import { SchematicBatch } from "./schematic-batch.ts";
import type { UsageRecorder } from "./usage-recorder.ts";

const KNOWN_ENTRIES = 100_000;
/** Characters of canonical text held at most; many large schematics must not fill the memory. */
const KNOWN_CHARACTERS = 32_000_000;
const UNKNOWN_ENTRIES = 50_000;
const UNKNOWN_MS = 30_000;
const TEXTS_CHARACTERS = 8_000_000;
const ID = /^[0-9a-f]{64}$/;

export interface SchematicServiceOptions {
  repository: SchematicRepository;
  usage: UsageRecorder;
}

/** The schematic use cases over one table. */
export function createSchematicService(options: SchematicServiceOptions): SchematicService {
  const { repository, usage } = options;
  const known = new LRUCache<string, StoredSchematic>({
    max: KNOWN_ENTRIES,
    maxSize: KNOWN_CHARACTERS,
    sizeCalculation: (schematic) => schematic.canonical.length + 1,
  });
  const unknown = new LRUCache<string, true>({ max: UNKNOWN_ENTRIES, ttl: UNKNOWN_MS });
  /** Texts as posted: a script that posts the same bytes again is answered without decoding them. */
  const posted = new LRUCache<string, StoredSchematic>({
    maxSize: TEXTS_CHARACTERS,
    sizeCalculation: (_schematic, text) => text.length + 1,
  });
  const lookups = new Map<string, Promise<StoredSchematic | null>>();
  const batch = new SchematicBatch(repository);

  async function create(text: string): Promise<StoredSchematic> {
    const repeated = posted.get(text);
    if (repeated !== undefined) return repeated;
    const schematic = parseSchematic(text);
    const canonical = canonicalSchematic(schematic);
    const id = idOfText(canonical);
    const stored = known.get(id) ?? { id, canonical, schematic };
    if (!known.has(id)) await batch.insert({ id, canonical, parsed: schematicToJson(schematic) });
    remember(stored);
    posted.set(text, stored);
    return stored;
  }

  async function find(id: string): Promise<StoredSchematic | null> {
    const hit = known.get(id);
    if (hit !== undefined) {
      usage.note(id);
      return hit;
    }
    if (!ID.test(id) || unknown.has(id)) return null;
    const running = lookups.get(id);
    if (running !== undefined) return running;
    const lookup = load(id).finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  }

  async function load(id: string): Promise<StoredSchematic | null> {
    const row = await repository.find(id);
    if (row === null) {
      // A create of the same id may have finished while the answer was on its way.
      const created = known.get(id);
      if (created === undefined) unknown.set(id, true);
      return created ?? null;
    }
    usage.note(id);
    const stored = { id, canonical: row.canonical, schematic: schematicFromJson(row.parsed) };
    remember(stored);
    return stored;
  }

  function remember(stored: StoredSchematic): void {
    known.set(stored.id, stored);
    unknown.delete(stored.id);
  }

  return { create, find };
}
