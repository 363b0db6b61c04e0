/** The table of presets; what its JSON columns hold is checked on the way out. */
import { z } from "zod";
import { type Preset, presetTargetSchema } from "../domain/preset.ts";
import type { Database } from "./client.ts";
import { type Preset as PresetRow, Prisma } from "./generated/client.ts";
import { unlessTaken } from "./unless-refused.ts";

export interface PresetRepository {
  /** By name; with a label only those that carry it. */
  list(label: { name: string; value: string | null } | null, limit: number): Promise<Preset[]>;
  count(): Promise<number>;
  find(id: string): Promise<Preset | null>;
  /** False when another one has the name, in whatever case. */
  insert(preset: Preset): Promise<boolean>;
  /** "missing" or "name taken" when nothing was changed. */
  update(preset: Omit<Preset, "createdAt">): Promise<"done" | "missing" | "name taken">;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
}

const UUID = /^[0-9a-f-]{36}$/;

/** The repository over one client. */
export function createPresetRepository(db: Database): PresetRepository {
  return {
    async list(label, limit) {
      const where = label === null ? {} : { labels: labelFilter(label) };
      const rows = await db.preset.findMany({ where, orderBy: { name: "asc" }, take: limit });
      return rows.map(toPreset);
    },
    count: () => db.preset.count(),
    async find(id) {
      if (!UUID.test(id)) return null;
      const row = await db.preset.findUnique({ where: { id } });
      return row === null ? null : toPreset(row);
    },
    async insert(preset) {
      return unlessTaken(() => db.preset.create({ data: preset }));
    },
    async update({ id, ...data }) {
      let count = 0;
      const free = await unlessTaken(async () => {
        count = (await db.preset.updateMany({ where: { id }, data })).count;
      });
      if (!free) return "name taken";
      return count === 1 ? "done" : "missing";
    },
    async remove(id) {
      return UUID.test(id) && (await db.preset.deleteMany({ where: { id } })).count === 1;
    },
  };
}

const labelFilter = ({ name, value }: { name: string; value: string | null }): Prisma.JsonFilter =>
  value === null ? { path: [name], not: Prisma.AnyNull } : { path: [name], equals: value };

const labelsSchema = z.record(z.string(), z.string());

function toPreset({ labels, target, ...row }: PresetRow): Preset {
  return { ...row, labels: labelsSchema.parse(labels), target: presetTargetSchema.parse(target) };
}
