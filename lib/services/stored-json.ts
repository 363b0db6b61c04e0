/** Small JSON documents in the object store. */
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ObjectStore } from "../storage/object-store.ts";

/** The parsed document; null when there is none or it is no JSON. */
export async function readStoredJson(store: ObjectStore, key: string): Promise<unknown> {
  if ((await store.head(key)) === null) return null;
  try {
    return JSON.parse(await text(await store.get(key)));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Writes the document whole. */
export async function writeStoredJson(store: ObjectStore, key: string, value: unknown): Promise<void> {
  await store.put(key, Readable.from([Buffer.from(JSON.stringify(value))]), {
    contentType: "application/json",
  });
}
