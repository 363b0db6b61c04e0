/** What stays when a release or an own extension is not offered any more. */
import { expect, test } from "vitest";
import type { ReleaseRecord } from "../../../../lib/domain/release-record.ts";
import { invalidInput, notFound } from "../../../../lib/errors/app-error.ts";
import {
  createWithdrawnReleases,
  lacksOwn,
  lacksRelease,
  resolveWithFormer,
} from "../../../../lib/services/assets/former-files.ts";
import type { AssetRequest, ReadyAsset, ResolvedAsset } from "../../../../lib/services/contracts.ts";
import { fakeAsset } from "../../../fixtures/fake-plan.ts";
import { failure } from "../../../fixtures/source-images.ts";

const request: AssetRequest = { schematicId: "s", version: "v1.13.2", path: "kernel-amd64" };
const former: ResolvedAsset = fakeAsset("former", []);

/** Resolving while the offer refuses with `refusal`; the file is there already or not. */
function resolving(refusal: Error, is: { ready: boolean }) {
  const refuse = () => Promise.reject(refusal);
  const give = async () => former;
  return resolveWithFormer({
    resolve: refuse,
    former: [
      { isGone: lacksOwn, resolve: refuse },
      { isGone: lacksRelease, resolve: give },
    ],
    findReady: async () => (is.ready ? ({} as ReadyAsset) : null),
    inline: () => null,
  })(request);
}

const gone = notFound("version 1.13.2 is not available", { details: { release: "v1.13.2" } });

test("a file that is there stays when its release is gone; others are refused as before", async () => {
  expect(await resolving(gone, { ready: true })).toBe(former);
  expect(await failure(resolving(gone, { ready: false }))).toBe(gone);
});

test.each([
  notFound("schematic not found"),
  invalidInput("no such extension", { details: { extension: "x" } }),
  new Error("broken"),
])("%s is told as it is", async (refusal) => {
  await expect(resolving(refusal, { ready: true })).rejects.toBe(refusal);
});

const imager = { repository: "siderolabs/imager", digest: "sha256:1" };
const record: ReleaseRecord = {
  ...{ version: "v1.13.2", state: "incomplete", missing: ["x"], sample: false, registry: "r" },
  inputs: { registry: "r", imager, baseInstaller: null, extensions: "sha256:2", overlays: null },
  ...{ namesChecked: true, extensions: [], overlays: [], checkedAt: new Date(0) },
};
const withdrawn = (row: ReleaseRecord | null, hasReady: boolean) =>
  createWithdrawnReleases({ releases: { find: async () => row }, hasReady: async () => hasReady }).require(
    "1.13.2",
  );

test("a release is remembered once something was built of it, unless the operator calls it broken", async () => {
  expect(await withdrawn(record, true)).toMatchObject({ version: "v1.13.2", imager });
  for (const nothing of [
    withdrawn(record, false),
    withdrawn(null, true),
    withdrawn({ ...record, inputs: null }, true),
    withdrawn({ ...record, state: "broken" }, true),
  ])
    expect((await failure(nothing)).code).toBe("not_found");
});
