/** The tables of own sources and their pinned images; what JSON columns hold is checked on the way out. */
import { z } from "zod";
import { ARCHES } from "../domain/asset.ts";
import {
  OWN_KINDS,
  OWN_SUBJECTS,
  type OwnPin,
  type OwnSource,
  PIN_STATES,
  type PinState,
  trustSchema,
} from "../domain/own-sources.ts";
import type { Database } from "./client.ts";
import type { OwnPin as PinRow, Prisma, OwnSource as SourceRow } from "./generated/client.ts";
import { fromExactJson, toExactJsonText, toJsonText } from "./json-text.ts";
import { unlessGone, unlessTaken } from "./unless-refused.ts";

export interface OwnSourceRepository {
  /** Changes whenever anything in the two tables does. */
  revision(): Promise<string>;
  sources(): Promise<OwnSource[]>;
  findSource(id: string): Promise<OwnSource | null>;
  /** With its first pins, whole or not at all. False when there is one for the same subject, namespace and name. */
  addSource(source: OwnSource, pins: readonly OwnPin[]): Promise<boolean>;
  /** Trust, reference and override are what can be changed. */
  changeSource(source: OwnSource): Promise<void>;
  /** Its pins stay, retired. */
  removeSource(id: string): Promise<void>;
  /** Newest first; those of deleted sources are left out. */
  pins(filter?: { sourceId?: string; state?: PinState }): Promise<OwnPin[]>;
  /** Pins that are in use or ever were, those of deleted sources too, newest first; without their reports (null). */
  usedPins(): Promise<OwnPin[]>;
  findPin(id: string): Promise<OwnPin | null>;
  /** How many are not retired. */
  countPins(): Promise<number>;
  /** Adds pins of one source, all or none. False when the source was removed meanwhile. */
  addPins(pins: readonly OwnPin[]): Promise<boolean>;
  /**
   * Makes a pin adopted as it is given, and retires others of its name and range, at once; a pin that is new is added.
   * taken: somebody else adopted another one in the same moment. gone: its source was removed.
   */
  adoptPin(pin: OwnPin): Promise<"adopted" | "taken" | "gone">;
  retirePin(id: string): Promise<void>;
  /** Does the work unless another process is at such work; false then. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** IDs of schematics that name one of these extensions or overlays, oldest first. */
  schematicsNaming(names: { extensions: string[]; overlays: string[] }, limit: number): Promise<string[]>;
}

/** Number of the advisory lock of whoever makes sources what a file declares. */
const DECLARING_LOCK = 7_230_118;
const MOST_ALONE_MS = 30 * 60_000;
const UUID = /^[0-9a-f-]{36}$/;

/** The repository over one client. */
export function createOwnSourceRepository(db: Database): OwnSourceRepository {
  return { ...readsOf(db), ...writesOf(db) };
}

type Reads =
  | "revision"
  | "sources"
  | "findSource"
  | "pins"
  | "usedPins"
  | "findPin"
  | "countPins"
  | "schematicsNaming";

function readsOf(db: Database): Pick<OwnSourceRepository, Reads> {
  return {
    async revision() {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`SELECT count FROM own_revision`;
      return String(row?.count ?? 0);
    },
    async sources() {
      const rows = await db.ownSource.findMany({ orderBy: [{ namespace: "asc" }, { name: "asc" }] });
      return rows.map(toSource);
    },
    async findSource(id) {
      const row = UUID.test(id) ? await db.ownSource.findUnique({ where: { id } }) : null;
      return row === null ? null : toSource(row);
    },
    async pins({ sourceId, state } = {}) {
      const where = {
        sourceId: sourceId ?? { not: null },
        ...(state === undefined ? {} : { state }),
      };
      const rows = await db.ownPin.findMany({ where, orderBy: { id: "desc" } });
      return rows.map(toPin);
    },
    async usedPins() {
      const where = { adoptedAt: { not: null } };
      const rows = await db.ownPin.findMany({ where, orderBy: { id: "desc" }, omit: { report: true } });
      return rows.map((row) => toPin({ ...row, report: null }));
    },
    async findPin(id) {
      const row = UUID.test(id) ? await db.ownPin.findUnique({ where: { id } }) : null;
      return row === null ? null : toPin(row);
    },
    countPins: () => db.ownPin.count({ where: { state: { not: "retired" } } }),
    async schematicsNaming({ extensions, overlays }, limit) {
      const rows = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM schematic
        WHERE jsonb_exists_any(parsed #> '{customization,systemExtensions,officialExtensions}', ${extensions}::text[])
          OR parsed #>> '{overlay,name}' = ANY(${overlays}::text[])
        ORDER BY created_at LIMIT ${limit}::int`;
      return rows.map((row) => row.id);
    },
  };
}

function writesOf(db: Database): Omit<OwnSourceRepository, Reads> {
  return {
    addSource: (source, pins) =>
      unlessTaken(() =>
        db.$transaction([
          inTurn(db),
          db.ownSource.create({ data: source }),
          db.ownPin.createMany({ data: pins.map(toRow) }),
        ]),
      ),
    async changeSource({ id, reference, trust, override }) {
      const change = db.ownSource.updateMany({ where: { id }, data: { reference, trust, override } });
      await db.$transaction([inTurn(db), change]);
    },
    async removeSource(id) {
      await db.$transaction([
        inTurn(db),
        db.ownPin.updateMany({ where: { sourceId: id }, data: { state: "retired" } }),
        db.ownSource.deleteMany({ where: { id } }),
      ]);
    },
    addPins: (pins) =>
      unlessGone(() => db.$transaction([inTurn(db), db.ownPin.createMany({ data: pins.map(toRow) })])),
    adoptPin: (pin) => adoptPin(db, pin),
    async retirePin(id) {
      const change = db.ownPin.updateMany({ where: { id }, data: { state: "retired" } });
      await db.$transaction([inTurn(db), change]);
    },
    alone: (work) =>
      db.$transaction(
        async (held) => {
          const [lock] = await held.$queryRaw<{ got: boolean }[]>`
            SELECT pg_try_advisory_xact_lock(${DECLARING_LOCK}::bigint) AS got`;
          if (lock?.got === true) await work();
          return lock?.got === true;
        },
        { timeout: MOST_ALONE_MS },
      ),
  };
}

/**
 * Changes of the two tables happen one after the other: all of them count it here in the end, and taking the row first
 * keeps them from waiting for each other in a circle.
 */
const inTurn = (db: Pick<Database, "$queryRaw">) => db.$queryRaw`SELECT count FROM own_revision FOR UPDATE`;

/** What an extension says of itself may hold what Postgres does not take. */
function toRow(pin: OwnPin): Prisma.OwnPinCreateManyInput {
  const { origin, author, description, constraint } = pin;
  const texts: Pick<OwnPin, "origin" | "author" | "description" | "constraint"> = JSON.parse(
    toJsonText({ origin, author, description, constraint }),
  );
  const report: Prisma.InputJsonValue = JSON.parse(toExactJsonText(pin.report));
  return { ...pin, ...texts, sizeBytes: BigInt(pin.sizeBytes), report };
}

async function adoptPin(db: Database, pin: OwnPin): Promise<"adopted" | "taken" | "gone"> {
  const { id, sourceId, subject, name, talos, accepted, adoptedAt } = pin;
  let isThere = false;
  const free = await unlessTaken(() =>
    db.$transaction(async (whole) => {
      await inTurn(whole);
      const found = sourceId === null ? null : await whole.ownSource.findUnique({ where: { id: sourceId } });
      isThere = found !== null;
      if (!isThere) return;
      await whole.ownPin.updateMany({
        where: { subject, name, talos, state: "adopted", id: { not: id } },
        data: { state: "retired" },
      });
      // Only what adopting decides: the rest of the row may have changed since it was read.
      const update = { talos, accepted, adoptedAt, state: "adopted" };
      await whole.ownPin.upsert({ where: { id }, create: toRow({ ...pin, state: "adopted" }), update });
    }),
  );
  if (!free) return "taken";
  return isThere ? "adopted" : "gone";
}

const kindSchema = z.enum(OWN_KINDS);
const subjectSchema = z.enum(OWN_SUBJECTS);
const stateSchema = z.enum(PIN_STATES);
const platformsSchema = z.array(z.enum(ARCHES));

const toSource = (row: SourceRow): OwnSource => ({
  ...row,
  kind: kindSchema.parse(row.kind),
  subject: subjectSchema.parse(row.subject),
  trust: trustSchema.parse(row.trust),
});

const toPin = (row: PinRow): OwnPin => ({
  ...row,
  subject: subjectSchema.parse(row.subject),
  state: stateSchema.parse(row.state),
  platforms: platformsSchema.parse(row.platforms),
  sizeBytes: Number(row.sizeBytes),
  report: fromExactJson(row.report),
});
