/** Blobs of our own registry as a reader of registries gets them, and given up when it gives up. */
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createExtensionTools } from "../../../../lib/services/own/extension-tools.ts";
import { OWN_REGISTRY, ownRegistryFetch } from "../../../../lib/services/own/registry-fetch.ts";

const BLOB = `${OWN_REGISTRY}/v2/own/team/daemon/blobs/sha256:${"a".repeat(64)}`;

test("a blob arrives whole; a reader that stops stops the store", async () => {
  const given: (AbortSignal | undefined)[] = [];
  const sources: Readable[] = [];
  const store = {
    head: async () => ({ sizeBytes: 10 }),
    async get(_key: string, _range: unknown, signal: AbortSignal | undefined) {
      given.push(signal);
      const source = Readable.from([Buffer.from("hello"), Buffer.from("world")]);
      sources.push(source);
      return source;
    },
  };
  const ask = ownRegistryFetch({} as never, store as never);
  expect(await (await ask(BLOB)).text()).toBe("helloworld");
  const { signal } = new AbortController();
  await (await ask(BLOB, { signal })).body?.cancel();
  expect(given).toEqual([undefined, signal]);
  await expect.poll(() => sources[1]?.destroyed).toBe(true);
});

test("nobody reads the files of an upload whose sender has left", async () => {
  const { architectures } = createExtensionTools({ run: () => Promise.reject(new Error("no programs")) });
  const reading = architectures({ dir: import.meta.dirname } as never, AbortSignal.abort(new Error("left")));
  await expect(reading).rejects.toThrow("left");
});
