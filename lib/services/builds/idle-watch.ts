/** Decides when a build was without waiters for long enough to be given up. */
import type { Waiters } from "../../queue/waiters.ts";

/** So long after the last waiter left a build goes on, so that a client may come back. */
export const GRACE_MS = 60_000;

export class IdleWatch {
  readonly #waiters: Pick<Waiters, "look">;
  readonly #graceMs: number;
  readonly #now: () => number;
  readonly #lastWaited = new Map<string, number>();

  constructor(waiters: Pick<Waiters, "look">, graceMs: number, now: () => number) {
    this.#waiters = waiters;
    this.#graceMs = graceMs;
    this.#now = now;
  }

  /**
   * True when nobody waited during the whole grace period, as far as this process saw: it counts from the first
   * call for a build, and a Redis that is away or forgot everything counts as somebody waiting.
   */
  async isAbandoned(buildId: string): Promise<boolean> {
    const view = await this.#waiters.look(buildId).catch(() => null);
    const now = this.#now();
    const seen = this.#lastWaited.get(buildId) ?? now;
    const lastWaited =
      view === null || view.count > 0 ? now : Math.max(seen, now - (view.idleMs ?? Infinity));
    this.#lastWaited.set(buildId, lastWaited);
    return now - lastWaited >= this.#graceMs;
  }

  /** Forgets all other builds: those that another worker took, or that ended elsewhere. */
  keepOnly(buildIds: ReadonlySet<string>): void {
    for (const id of this.#lastWaited.keys()) if (!buildIds.has(id)) this.#lastWaited.delete(id);
  }

  /** How many builds it has an opinion about. */
  get size(): number {
    return this.#lastWaited.size;
  }

  forget(buildId: string): void {
    this.#lastWaited.delete(buildId);
  }
}
