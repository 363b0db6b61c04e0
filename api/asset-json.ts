/** What the API shows of a file that is ready. */
import type { ReadyAsset } from "../lib/services/contracts.ts";

/** The fields of the asset without its name inside the object store. */
export const assetJson = ({ storageKey: _, ...shown }: ReadyAsset) => shown;
