/** The table of boot tests of own extensions. */
import { z } from "zod";
import { BOOT_TEST_STATES, type BootTest, type Verdict } from "../domain/boot-test.ts";
import type { Database } from "./client.ts";
import type { OwnBootTest as Row } from "./generated/client.ts";
import { unlessTaken } from "./unless-refused.ts";

export interface BootTestRepository {
  /** Adds a queued test in place of the finished ones of its pin; false when one of the pin is open. */
  insert(test: BootTest): Promise<boolean>;
  find(id: string): Promise<BootTest | null>;
  /** The newest test of each of the pins that has one. */
  lastOf(pinIds: readonly string[]): Promise<BootTest[]>;
  /** From queued to running; false when it is not queued any more. */
  claim(id: string, at: Date): Promise<boolean>;
  /** Says that somebody is at it. */
  touch(id: string, at: Date): Promise<void>;
  setSchematic(id: string, schematicId: string): Promise<void>;
  /** Ends an open test; nothing happens to one that has ended. */
  finish(id: string, end: Verdict & { log: string; ms: number | null; at: Date }): Promise<void>;
}

const OPEN = { in: ["queued", "running"] };

/** The repository over one client. */
export function createBootTestRepository(db: Database): BootTestRepository {
  return {
    insert(test) {
      const { pinId } = test;
      return unlessTaken(() =>
        db.$transaction([
          db.ownBootTest.deleteMany({ where: { pinId, finishedAt: { not: null } } }),
          db.ownBootTest.create({ data: test }),
        ]),
      );
    },
    async find(id) {
      const row = await db.ownBootTest.findUnique({ where: { id } });
      return row === null ? null : toTest(row);
    },
    async lastOf(pinIds) {
      const rows = await db.ownBootTest.findMany({
        where: { pinId: { in: [...pinIds] } },
        orderBy: { id: "desc" },
        distinct: ["pinId"],
      });
      return rows.map(toTest);
    },
    async claim(id, at) {
      const where = { id, state: "queued" };
      const { count } = await db.ownBootTest.updateMany({ where, data: { state: "running", seenAt: at } });
      return count === 1;
    },
    async touch(id, at) {
      await db.ownBootTest.updateMany({ where: { id, state: OPEN }, data: { seenAt: at } });
    },
    async setSchematic(id, schematicId) {
      await db.ownBootTest.updateMany({ where: { id, state: OPEN }, data: { schematicId } });
    },
    async finish(id, { state, reason, log, ms, at }) {
      // Postgres keeps no NUL in a text.
      const data = { state, reason, log: log.replaceAll("\0", ""), ms, finishedAt: at, seenAt: at };
      await db.ownBootTest.updateMany({ where: { id, state: OPEN }, data });
    },
  };
}

const stateSchema = z.enum(BOOT_TEST_STATES);

const toTest = (row: Row): BootTest => ({ ...row, state: stateSchema.parse(row.state) });
