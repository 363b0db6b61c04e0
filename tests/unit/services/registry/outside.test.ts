/** What goes to a registry outside and who is sent there, told by what is asked of it. */
import { expect, test } from "vitest";
import type { Presence, RegistryPush } from "../../../../lib/oci/registry-push.ts";
import { createOutsideRegistry } from "../../../../lib/services/registry/outside.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const OPEN = "1".repeat(64);
const SECRET = "2".repeat(64);

/** A registry that has everything, or nothing, and says digests or does not. */
function outsideOf(presence: Presence) {
  const asked: string[] = [];
  const push: RegistryPush = {
    name: "https://outside.example",
    address: (repository, resource, reference) =>
      `https://outside.example/${repository}/${resource}/${reference}`,
    async look(repository) {
      asked.push(`look ${repository}`);
      return presence;
    },
    putBlob: () => Promise.reject(new Error("no blobs here")),
    async putManifest(repository) {
      asked.push(`put ${repository}`);
      return { listsSubject: true };
    },
  };
  const bytes = Buffer.from(JSON.stringify({ manifests: [] }));
  const outside = createOutsideRegistry({
    push,
    rows: {
      findTag: () => Promise.resolve(null),
      findManifest: (_, digest) =>
        Promise.resolve({
          digest,
          mediaType: "index",
          bytes,
          artifactType: null,
          subject: null,
          annotations: {},
        }),
      referrers: () => Promise.resolve([]),
    },
    store: { get: () => Promise.reject(new Error("no blobs here")) },
    findConfigured: async (ids) => ids.filter((id) => id === SECRET),
    now: Date.now,
    onWarning: (message, cause) => asked.push(`warning ${message} ${cause}`),
  });
  return { outside, asked };
}

test("installers with a machine configuration are not pushed, nor looked for", async () => {
  const { outside, asked } = outsideOf({ state: "absent" });
  const repository = `metal-installer/${SECRET}`;
  expect(await outside.tagged(repository, "v1.13.2", DIGEST)).toBeNull();
  expect(await outside.find(repository, "blobs", DIGEST)).toBeNull();
  await outside.close();
  expect(asked).toEqual([]);
});

test("nobody is sent there for them, even where they are there from former times", async () => {
  const { outside } = outsideOf({ state: "present", digest: DIGEST });
  expect(await outside.tagged(`metal-installer/${SECRET}`, "v1.13.2", DIGEST)).toBeNull();
  expect(await outside.find(`metal-installer/${SECRET}`, "manifests", DIGEST)).toBeNull();
  expect(await outside.find(`metal-installer/${OPEN}`, "manifests", DIGEST)).toContain(DIGEST);
});

test("a tag without a digest may mean anything: it is pushed, and nobody is sent there", async () => {
  const { outside, asked } = outsideOf({ state: "present", digest: null });
  const repository = `metal-installer/${OPEN}`;
  expect(await outside.tagged(repository, "v1.13.2", DIGEST)).toBeNull();
  await expect.poll(() => asked).toContain(`put ${repository}`);
  expect(await outside.find(repository, "manifests", DIGEST)).toContain(DIGEST);
  await outside.close();
});
