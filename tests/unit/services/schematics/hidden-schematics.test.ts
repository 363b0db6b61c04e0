/** IDs that open an embedded configuration: seen by those who know them, cut short for all others. */
import { expect, test } from "vitest";
import type { BuildEvent, BuildService, BuildView } from "../../../../lib/services/contracts.ts";
import { hideSchematics } from "../../../../lib/services/schematics/hidden-schematics.ts";

const SECRET = "a1b2c3".padEnd(64, "0");
const OPEN = "d".repeat(64);
/** Whoever asks for a lock reads the ID of its schematic in it. */
const LOCK = "e".repeat(64);

function view(schematicId: string): BuildView {
  const error = { code: "not_found", message: `/image/${schematicId}/v1.13.2/kernel-amd64 is gone` };
  return {
    ...{ id: schematicId.slice(0, 4), assetKey: "k", schematicId, schematicHidden: false, lockId: LOCK },
    ...{ version: "v1.13.2", path: "kernel-amd64", state: "failed", phase: null, step: 0, of: 1, percent: 0 },
    ...{ note: null, error, attempts: 1, forecast: null, waiters: 0, queuedAt: new Date(0), startedAt: null },
    ...{ finishedAt: null, asset: null, timings: [] },
  };
}

const views = [view(SECRET), view(OPEN)];
const event: BuildEvent = { id: "1-0", type: "log", data: { line: `wrote ${SECRET}` } };
const inside: BuildService = {
  list: async ({ schematicId }) => views.filter((v) => !schematicId || v.schematicId === schematicId),
  findRunning: async () => views,
  find: async (id) => views.find((v) => v.id === id) ?? null,
  cancel: async (id) => views.find((v) => v.id === id) ?? view(OPEN),
  async *events() {
    yield event;
  },
};
let asked: string[][] = [];
const hiding = () => {
  asked = [];
  return hideSchematics(inside, async (ids) => {
    asked.push(ids);
    return ids.filter((id) => id === SECRET);
  });
};

async function eventsOf(builds: BuildService, knowing?: string): Promise<string> {
  const out: BuildEvent[] = [];
  const { signal } = new AbortController();
  for await (const one of builds.events("a1b2", { signal, ...(knowing ? { knowing } : {}) })) out.push(one);
  return JSON.stringify(out);
}

test("lists show no ID that opens a configuration", async () => {
  const listed = await hiding().list({ limit: 10 });
  expect(JSON.stringify(listed)).not.toContain(SECRET);
  expect(listed[0]).toMatchObject({ schematicId: "a1b2c3…", schematicHidden: true, lockId: null });
  expect(listed[0]?.error?.message).toBe("/image/a1b2c3…/v1.13.2/kernel-amd64 is gone");
  expect(listed[1]).toEqual(views[1]);
});

test("one build, its events and what cancelling answers hide it as well", async () => {
  const builds = hiding();
  expect(JSON.stringify(await builds.find("a1b2"))).not.toContain(SECRET);
  expect(JSON.stringify(await builds.findRunning([]))).not.toContain(SECRET);
  expect(JSON.stringify(await builds.cancel("a1b2"))).not.toContain(SECRET);
  expect(await eventsOf(builds)).not.toContain(SECRET);
});

test("who knows the ID sees it; a wrong one helps nobody", async () => {
  const builds = hiding();
  expect(await builds.list({ limit: 10, schematicId: SECRET })).toEqual([views[0]]);
  expect(await builds.find("a1b2", SECRET)).toEqual(views[0]);
  expect(await eventsOf(builds, SECRET)).toContain(SECRET);
  expect(await builds.find("a1b2", OPEN)).toMatchObject({ schematicHidden: true });
});

test("a schematic is looked up once", async () => {
  const builds = hiding();
  await builds.list({ limit: 10 });
  await builds.list({ limit: 10 });
  await builds.find("a1b2");
  expect(asked).toEqual([[SECRET, OPEN]]);
});
