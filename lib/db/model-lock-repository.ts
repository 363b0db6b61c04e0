/** The table of locks that builds can be asked from: documents by the hash of their canonical text, never changed. */
import type { ModelLock } from "../domain/model-lock.ts";
import type { Database } from "./client.ts";
import { toJsonText } from "./json-text.ts";

export interface ModelLockRepository {
  /** A known ID stays untouched. */
  insert(id: string, lock: ModelLock): Promise<void>;
  /** The document as it was stored, null for an unknown ID. */
  find(id: string): Promise<unknown>;
}

/** The repository over one client. */
export function createModelLockRepository(db: Database): ModelLockRepository {
  return {
    async insert(id, lock) {
      await db.$executeRaw`
        INSERT INTO model_lock (id, document) VALUES (${id}, ${toJsonText(lock)}::jsonb)
        ON CONFLICT (id) DO NOTHING`;
    },
    async find(id) {
      return (await db.modelLock.findUnique({ where: { id } }))?.document ?? null;
    },
  };
}
