/** How full the store is, by first folder. Counting lists every object, so it is done seldom and in the background. */
import { setTimeout } from "node:timers/promises";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { FactoryStatus, StoreUse } from "./contracts.ts";

const COUNTED_EVERY_MS = 10 * 60_000;
/** A small store is counted before the page is there. */
const PATIENCE_MS = 500;
const STORE_FOLDERS = ["assets", "parts", "blobs", "logs"] as const;

type Counted = NonNullable<FactoryStatus["store"]["folders"]>;

export interface StoreUseOptions {
  store: ObjectStore;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Gives the last count, and starts a new one when that is old; null before the first has ended. */
export function createStoreUse({ store, now, onError }: StoreUseOptions): () => Promise<Counted | null> {
  let last: Counted | null = null;
  let running: Promise<void> | null = null;

  async function count(): Promise<void> {
    const uses: StoreUse[] = [];
    for (const name of STORE_FOLDERS) {
      const use: StoreUse = { name, count: 0, sizeBytes: 0 };
      for await (const { sizeBytes } of store.list(`${name}/`)) {
        use.count += 1;
        use.sizeBytes += sizeBytes;
      }
      uses.push(use);
    }
    last = { uses, countedAt: new Date(now()) };
  }

  return async () => {
    if (last === null || now() - last.countedAt.getTime() > COUNTED_EVERY_MS) {
      running ??= count()
        .catch(onError)
        .finally(() => {
          running = null;
        });
      await Promise.race([running, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
    }
    return last;
  };
}
