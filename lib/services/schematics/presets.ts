/** Presets: keep a choice under a name, change it, copy it, take it along as a document. */
import { newBuildId } from "../../db/build-id.ts";
import type { PresetRepository } from "../../db/preset-repository.ts";
import {
  copyName,
  mayBecomePreset,
  type Preset,
  type PresetInput,
  parsePresetDocument,
  presetDocument,
} from "../../domain/preset.ts";
import { quoteText } from "../../domain/quote.ts";
import { parseSchematic } from "../../domain/schematic-parse.ts";
import type { Schematic } from "../../domain/schematic-types.ts";
import { AppError, invalidInput, notFound } from "../../errors/app-error.ts";
import type { SchematicService } from "../contracts.ts";
import type { PresetService } from "./preset-contracts.ts";

const MOST_PRESETS = 2_000;

export interface PresetServiceOptions {
  presets: PresetRepository;
  schematics: SchematicService;
  now: () => number;
}

/** The use cases of presets. */
export function createPresetService(options: PresetServiceOptions): PresetService {
  const { presets, schematics, now } = options;

  async function require(id: string): Promise<Preset> {
    const preset = await presets.find(id);
    if (preset === null) throw missing(id);
    return preset;
  }

  async function create(input: PresetInput): Promise<Preset> {
    await requireRoom(presets);
    const at = new Date(now());
    const content = await checked(schematics, input);
    const preset = { id: newBuildId(now()), ...content, createdAt: at, updatedAt: at };
    if (!(await presets.insert(preset))) throw taken(input.name);
    return preset;
  }

  return {
    list: (label = "") => presets.list(labelFilter(label), MOST_PRESETS),
    require,
    create,
    async replace(id, input) {
      const before = await require(id);
      const changed = { ...before, ...(await checked(schematics, input)), updatedAt: new Date(now()) };
      const { createdAt: _kept, ...row } = changed;
      const result = await presets.update(row);
      if (result === "name taken") throw taken(input.name);
      if (result === "missing") throw missing(id);
      return changed;
    },
    async copy(id) {
      const { name, labels, schematicId, target } = await require(id);
      const free = copyName(name, await namesOf(presets));
      return create({ name: free, labels, schematic: schematicId, ...target });
    },
    async remove(id) {
      if (!(await presets.remove(id))) throw missing(id);
    },
    async document(id) {
      const preset = await require(id);
      const stored = await schematics.find(preset.schematicId);
      if (stored === null) throw missing(id);
      return { name: preset.name, text: presetDocument(preset, stored.canonical) };
    },
    restore: async (text) => create(await unpacked(options, text)),
  };
}

/** What a document asks to be kept; its schematic is stored once nothing speaks against the rest. */
async function unpacked({ presets, schematics }: PresetServiceOptions, text: string): Promise<PresetInput> {
  const { rest, schematic } = parsePresetDocument(text);
  // Nothing that is refused is kept, least of all a configuration.
  refuseSecret(parseSchematic(schematic));
  await requireRoom(presets);
  if ((await namesOf(presets)).has(rest.name.toLowerCase())) throw taken(rest.name);
  const { id } = await schematics.create(schematic);
  return { ...rest, schematic: id };
}

async function requireRoom(presets: PresetRepository): Promise<void> {
  if ((await presets.count()) < MOST_PRESETS) return;
  throw new AppError("conflict", `There are ${MOST_PRESETS} presets already`, {
    hint: "Delete some that nobody needs.",
    details: { most: MOST_PRESETS },
    retryable: false,
  });
}

/** All names, in lower case. */
async function namesOf(presets: PresetRepository): Promise<Set<string>> {
  const all = await presets.list(null, MOST_PRESETS);
  return new Set(all.map(({ name }) => name.toLowerCase()));
}

/** "env" asks for presets with that label, "env=lab" for those where it says so, "" for all. */
function labelFilter(text: string): { name: string; value: string | null } | null {
  const [name = "", ...rest] = text.split("=");
  return name === "" ? null : { name, value: rest.length === 0 ? null : rest.join("=") };
}

/** What is kept of a choice; refused when its schematic is unknown, or no preset may show it. */
async function checked(schematics: SchematicService, input: PresetInput) {
  const { schematic, name, labels, ...target } = input;
  const stored = await schematics.find(schematic);
  if (stored === null)
    throw invalidInput(`schematic ${quoteText(schematic)} is not stored here`, {
      hint: "POST /schematics stores it and gives the ID.",
      details: { field: "schematic" },
    });
  refuseSecret(stored.schematic);
  return { name, labels, target, schematicId: stored.id };
}

function refuseSecret(schematic: Schematic): void {
  if (mayBecomePreset(schematic)) return;
  throw invalidInput("A schematic with a machine configuration cannot become a preset", {
    hint: "Presets are seen by everybody who can open this server, and the configuration may hold secrets. Keep the link to the schematic instead.",
    details: { field: "schematic", secret: true },
  });
}

const missing = (id: string) =>
  notFound(`There is no preset ${quoteText(id)}`, { hint: "GET /api/v1/presets lists them." });

const taken = (name: string) =>
  new AppError("conflict", `A preset is named ${quoteText(name)} already`, {
    hint: "Choose another name, or change that preset.",
    retryable: false,
  });
