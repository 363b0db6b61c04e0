/** Schematics: text in, id out; bytes back by id. Postgres keeps them, memory answers most questions. */
import type { SchematicRepository } from "../../db/schematic-repository.ts";
import { canonicalSchematic } from "../../domain/schematic-canonical.ts";
import { schematicFromJson } from "../../domain/schematic-from-json.ts";
import { idOfText, isSchematicId } from "../../domain/schematic-id.ts";
import { parseSchematic } from "../../domain/schematic-parse.ts";
import { schematicToJson } from "../../domain/schematic-to-json.ts";
import type { SchematicService, StoredSchematic } from "../contracts.ts";
import type { UsageRecorder } from "../usage-recorder.ts";
import { SchematicBatch } from "./batch.ts";
import { SchematicMemory } from "./memory.ts";

/** The schematic that changes nothing. Manuals and scripts name its ID, so it exists without being posted. */
const EMPTY = "customization: {}\n";
const EMPTY_ID = idOfText(EMPTY);

export interface SchematicServiceOptions {
  repository: SchematicRepository;
  usage: UsageRecorder;
}

/** The schematic use cases over one table. */
export function createSchematicService(options: SchematicServiceOptions): SchematicService {
  const { repository, usage } = options;
  const memory = new SchematicMemory();
  const lookups = new Map<string, Promise<StoredSchematic | null>>();
  const batch = new SchematicBatch(repository);

  async function create(text: string): Promise<StoredSchematic> {
    const repeated = memory.ofText(text);
    if (repeated !== undefined) return repeated;
    const schematic = parseSchematic(text);
    const canonical = canonicalSchematic(schematic);
    const id = idOfText(canonical);
    const known = memory.find(id);
    if (!known) await batch.insert({ id, canonical, parsed: schematicToJson(schematic) });
    const stored = known ?? { id, canonical, schematic };
    memory.keep(stored, text);
    return stored;
  }

  async function find(id: string): Promise<StoredSchematic | null> {
    const remembered = memory.find(id);
    if (remembered) usage.note(id);
    if (remembered !== undefined) return remembered;
    if (!isSchematicId(id)) return null;
    const running = lookups.get(id);
    if (running !== undefined) return running;
    const lookup = load(id).finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  }

  async function load(id: string): Promise<StoredSchematic | null> {
    const row = await repository.find(id);
    if (row === null) return id === EMPTY_ID ? create(EMPTY) : memory.missing(id);
    usage.note(id);
    const stored = { id, canonical: row.canonical, schematic: schematicFromJson(row.parsed) };
    memory.keep(stored);
    return stored;
  }

  return { create, find };
}
