/** Finished assets by key: a short memory in front of the table, and the check that the bytes are still there. */
import type { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import type { AssetRepository } from "../../db/asset-repository.ts";
import { AppError } from "../../errors/app-error.ts";
import type { ByteRange, ObjectStore } from "../../storage/object-store.ts";
import { toReadyAsset } from "../builds/view.ts";
import type { ReadyAsset } from "../contracts.ts";
import type { UsageRecorder } from "../usage-recorder.ts";

const ENTRIES = 10_000;
/** How long a found asset is believed without looking at the store again. */
const TRUST_MS = 30_000;
const SIZES_MS = 60_000;

export interface ReadyAssets {
  find(assetKey: string): Promise<ReadyAsset | null>;
  open(asset: ReadyAsset, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  forget(asset: ReadyAsset): Promise<void>;
  /** See AssetService. */
  usualSizes(): Promise<Record<string, number>>;
}

export interface ReadyAssetsOptions {
  assets: AssetRepository;
  store: ObjectStore;
  usage: UsageRecorder;
}

/** Assets over table and store; a row whose object is gone or has another length is dropped, so it is built anew. */
export function createReadyAssets({ assets, store, usage }: ReadyAssetsOptions): ReadyAssets {
  let usual: { at: number; sizes: Record<string, number> } | null = null;
  const trusted = new LRUCache<string, ReadyAsset>({ max: ENTRIES, ttl: TRUST_MS });

  async function forget(asset: ReadyAsset): Promise<void> {
    trusted.delete(asset.assetKey);
    await assets.forget(asset.assetKey, asset.storageKey);
  }

  return {
    forget,
    async usualSizes() {
      const now = Date.now();
      if (usual === null || now - usual.at > SIZES_MS) usual = { at: now, sizes: await assets.usualSizes() };
      return usual.sizes;
    },
    async find(assetKey) {
      const hit = trusted.get(assetKey);
      if (hit !== undefined) {
        usage.note(assetKey);
        return hit;
      }
      const row = await assets.find(assetKey);
      if (row === null) return null;
      const asset = toReadyAsset(row);
      const object = await store.head(asset.storageKey);
      if (object === null || object.sizeBytes !== asset.sizeBytes) {
        await forget(asset);
        return null;
      }
      usage.note(assetKey);
      trusted.set(assetKey, asset);
      return asset;
    },
    async open(asset, range, signal) {
      try {
        return await store.get(asset.storageKey, range, signal);
      } catch (error) {
        if (error instanceof AppError && error.code === "not_found") await forget(asset);
        throw error;
      }
    },
  };
}
