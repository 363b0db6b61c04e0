/** Builds for people who may not know every schematic: an ID that opens an embedded configuration is cut short. */
import { LRUCache } from "lru-cache";
import type { BuildEvent, BuildService, BuildView } from "../contracts.ts";

/** Schematics never change, so an answer holds for ever; an entry is an ID and a boolean. */
const KNOWN_ENTRIES = 50_000;
const SHOWN_CHARACTERS = 6;

/** Which of these schematics carry a machine configuration. */
export type FindConfigured = (ids: string[]) => Promise<string[]>;

/** What is shown of an ID that must not be known. */
const cutShort = (schematicId: string): string => `${schematicId.slice(0, SHOWN_CHARACTERS)}…`;

/**
 * The build use cases for the outside. Whoever has the ID of a schematic may read its text, and with it the
 * configuration; lists of builds therefore show such IDs only to those who name them (`knowing`, or as filter).
 */
export function hideSchematics(builds: BuildService, findConfigured: FindConfigured): BuildService {
  const known = new LRUCache<string, boolean>({ max: KNOWN_ENTRIES });

  async function secretOnes(ids: string[]): Promise<Set<string>> {
    const open = [...new Set(ids)].filter((id) => known.get(id) === undefined);
    const found = new Set(open.length === 0 ? [] : await findConfigured(open));
    for (const id of open) known.set(id, found.has(id));
    return new Set(ids.filter((id) => known.get(id) ?? found.has(id)));
  }

  async function shown(views: BuildView[], knowing: string | undefined): Promise<BuildView[]> {
    const secret = await secretOnes(views.map((view) => view.schematicId).filter((id) => id !== knowing));
    return views.map((view) => (secret.has(view.schematicId) ? hidden(view) : view));
  }

  const one = async (view: BuildView, knowing?: string) => (await shown([view], knowing))[0] ?? view;

  return {
    list: async (filter) => shown(await builds.list(filter), filter.schematicId),
    findRunning: async (assetKeys, knowing) => shown(await builds.findRunning(assetKeys), knowing),
    async find(id, knowing) {
      const view = await builds.find(id);
      return view === null ? null : one(view, knowing);
    },
    cancel: async (id, knowing) => one(await builds.cancel(id), knowing),
    async *events(id, { knowing, ...follow }) {
      const schematicId = (await builds.find(id))?.schematicId;
      const hide = schematicId !== undefined && schematicId !== knowing;
      const secret = hide && (await secretOnes([schematicId])).size > 0;
      for await (const event of builds.events(id, follow))
        yield secret ? withoutId(event, schematicId) : event;
    },
  };
}

function hidden(view: BuildView): BuildView {
  const { schematicId, error, note } = view;
  return {
    ...view,
    schematicId: cutShort(schematicId),
    schematicHidden: true,
    lockId: null,
    error: error && withoutId(error, schematicId),
    note: note && withoutId(note, schematicId),
  };
}

/** The same value with the ID cut short in every text: errors and log lines may name addresses. */
function withoutId<T extends string | BuildEvent | BuildView["error"]>(value: T, schematicId: string): T {
  const text = JSON.stringify(value);
  return text.includes(schematicId) ? JSON.parse(text.replaceAll(schematicId, cutShort(schematicId))) : value;
}
