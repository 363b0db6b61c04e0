/** Writes that end an attempt must not be lost because Postgres is away for a moment. */
import type { Logger } from "pino";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildClaim } from "../../domain/build-record.ts";
import { type BuildMove, buildMove } from "../../domain/build-state.ts";

const TRIES = 6;
const PAUSE_MS = 2_000;

export interface OwnMove {
  builds: Pick<BuildRepository, "find">;
  claim: BuildClaim;
  move: BuildMove;
  log: Logger;
  /** Milliseconds between tries; two seconds unless given. */
  pauseMs?: number;
}

/**
 * True when the row of our own attempt is where the move leads. Tried again for about ten seconds; then the error, and
 * the reconciler has to find the row.
 */
export async function moveOwn(own: OwnMove, write: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const moved = await write();
      // A try whose answer was lost may have been committed: then the guard refuses the next one.
      return moved || (attempt > 1 && (await hasMoved(own)));
    } catch (error) {
      if (attempt === TRIES) throw error;
      own.log.warn({ err: error }, "row not written, trying again");
      await new Promise((resolve) => setTimeout(resolve, own.pauseMs ?? PAUSE_MS));
    }
  }
}

async function hasMoved({ builds, claim, move }: OwnMove): Promise<boolean> {
  const row = await builds.find(claim.id);
  if (row === null || row.worker !== claim.worker || row.attempts !== claim.attempt) return false;
  return row.state === buildMove(move).to;
}
