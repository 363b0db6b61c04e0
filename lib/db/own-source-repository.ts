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
import { type OwnPin as PinRow, Prisma, type OwnSource as SourceRow } from "./generated/client.ts";
import { fromExactJson, toExactJsonText, toJsonText } from "./json-text.ts";

export interface OwnSourceRepository {
  /** Changes whenever anything in the two tables does. */
  revision(): Promise<string>;
  sources(): Promise<OwnSource[]>;
  findSource(id: string): Promise<OwnSource | null>;
  /** False when there is one for the same subject, namespace and name. */
  addSource(source: OwnSource): Promise<boolean>;
  /** Trust, reference and override are what can be changed. */
  changeSource(source: OwnSource): Promise<void>;
  /** Its pins stay, retired. */
  removeSource(id: string): Promise<void>;
  /** Newest first; all that were ever made. */
  pins(filter?: { sourceId?: string; state?: PinState }): Promise<OwnPin[]>;
  findPin(id: string): Promise<OwnPin | null>;
  /**
   * Adds a pin, or changes the one with its id. An adopted one retires others of its name and range, at once; false when
   * somebody else adopted another one in the same moment.
   */
  savePin(pin: OwnPin): Promise<boolean>;
  /** Does the work unless another process is at such work; false then. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** IDs of schematics that name one of these extensions or overlays, oldest first. */
  schematicsNaming(names: { extensions: string[]; overlays: string[] }, limit: number): Promise<string[]>;
}

const NAME_TAKEN = "P2002";
/** Number of the advisory lock of whoever makes sources what a file declares. */
const DECLARING_LOCK = 7_230_118;
const MOST_ALONE_MS = 30 * 60_000;
const UUID = /^[0-9a-f-]{36}$/;

/** The repository over one client. */
export function createOwnSourceRepository(db: Database): OwnSourceRepository {
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
    addSource: (source) => unlessTaken(() => db.ownSource.create({ data: source })),
    async changeSource({ id, reference, trust, override }) {
      await db.ownSource.updateMany({ where: { id }, data: { reference, trust, override } });
    },
    async removeSource(id) {
      await db.$transaction([
        db.ownPin.updateMany({ where: { sourceId: id }, data: { state: "retired" } }),
        db.ownSource.deleteMany({ where: { id } }),
      ]);
    },
    async pins({ sourceId, state } = {}) {
      const where = {
        ...(sourceId === undefined ? {} : { sourceId }),
        ...(state === undefined ? {} : { state }),
      };
      const rows = await db.ownPin.findMany({ where, orderBy: { id: "desc" } });
      return rows.map(toPin);
    },
    async findPin(id) {
      const row = UUID.test(id) ? await db.ownPin.findUnique({ where: { id } }) : null;
      return row === null ? null : toPin(row);
    },
    savePin: (pin) => savePin(db, pin),
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

async function savePin(db: Database, pin: OwnPin): Promise<boolean> {
  const { id, subject, name, talos } = pin;
  const report: Prisma.InputJsonValue = JSON.parse(toExactJsonText(pin.report));
  const { origin, author, description, constraint } = pin;
  // What an extension says of itself may hold what Postgres does not take.
  const texts: Pick<OwnPin, "origin" | "author" | "description" | "constraint"> = JSON.parse(
    toJsonText({ origin, author, description, constraint }),
  );
  const data = { ...pin, ...texts, sizeBytes: BigInt(pin.sizeBytes), report };
  const replaced =
    pin.state === "adopted"
      ? [
          db.ownPin.updateMany({
            where: { subject, name, talos, state: "adopted", id: { not: id } },
            data: { state: "retired" },
          }),
        ]
      : [];
  return unlessTaken(() =>
    db.$transaction([...replaced, db.ownPin.upsert({ where: { id }, create: data, update: data })]),
  );
}

/** False when a unique index did not allow it. */
async function unlessTaken(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === NAME_TAKEN) return false;
    throw error;
  }
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
