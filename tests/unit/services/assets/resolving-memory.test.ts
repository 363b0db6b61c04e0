/** What the memory of resolved assets and of PXE scripts may hold. */
import { expect, test } from "vitest";
import { parseSchematic } from "../../../../lib/domain/schematic-parse.ts";
import { notFound } from "../../../../lib/errors/app-error.ts";
import { createAssetResolving } from "../../../../lib/services/assets/asset-resolving.ts";
import { createPxeService } from "../../../../lib/services/assets/pxe.ts";
import type { ReleaseService, ResolvedAsset, SchematicService } from "../../../../lib/services/contracts.ts";
import { fakeAsset } from "../../../fixtures/fake-plan.ts";
import { fakeRelease } from "../../../fixtures/releases.ts";

const TEXT = "customization: {}\n";
const release = fakeRelease("v1.13.2");
const releases = { require: async () => release } as unknown as ReleaseService;
const schematics = {
  find: async (id: string) => ({ id, canonical: TEXT, schematic: parseSchematic(TEXT) }),
} as unknown as SchematicService;

/** Asks for `first`, for others whose answers are that long together, and for `first` again; how often it was made. */
async function madeAgain(ask: (id: string) => Promise<unknown>, made: string[], others: number) {
  await ask("first");
  await ask("first");
  for (let index = 0; index < others; index += 1) await ask(`other ${index}`);
  await ask("first");
  return made.filter((id) => id === "first").length;
}

test.each([
  [10, 1_000, 1],
  [50, 1_000_000, 2],
])("%d plans of %d characters: made %d times", async (others, characters, times) => {
  const made: string[] = [];
  const resolve = createAssetResolving({
    ...{ schematics, releases, externalUrl: "http://factory.test", signing: null, installedGrub: {} },
    overlayProfiles: { read: () => Promise.reject(new Error("no board was asked for")) },
    planAsset: ({ schematicId }) => {
      made.push(schematicId);
      const { plan } = fakeAsset(schematicId, [{}]);
      const steps = plan.steps.map((step) => ({ ...step, params: { text: "x".repeat(characters) } }));
      return { ...plan, steps };
    },
  });
  const ask = (schematicId: string) => resolve({ schematicId, version: "v1.13.2", path: "kernel-amd64" });
  expect(await madeAgain(ask, made, others)).toBe(times);
});

test("a script is made, and not remembered, for a release that is only left over", async () => {
  let made = 0;
  const gone = () => Promise.reject(notFound("version 1.13.2 is not available"));
  const pxe = createPxeService({
    ...{ schematics, externalPxeUrl: "http://factory.test" },
    releases: { ...releases, require: gone },
    assets: {
      async resolve({ schematicId }) {
        made += 1;
        return fakeAsset(schematicId, [{}]);
      },
      inline: () => new TextEncoder().encode("a=b"),
    },
  });
  const ask = () => pxe.script({ schematicId: "s", version: "v1.13.2", platarch: "metal-amd64" });
  expect(await ask()).toContain(" a=b\n");
  expect(await ask()).toContain(" a=b\n");
  expect(made).toBe(2);
});

test.each([
  [100, 1_000, 1],
  [50, 1_000_000, 2],
])("%d scripts of %d characters: made %d times", async (others, characters, times) => {
  const made: string[] = [];
  const pxe = createPxeService({
    ...{ schematics, releases, externalPxeUrl: "http://factory.test" },
    assets: {
      async resolve({ schematicId }) {
        made.push(schematicId);
        return fakeAsset(schematicId, [{}]) satisfies ResolvedAsset;
      },
      inline: () => new TextEncoder().encode("x".repeat(characters)),
    },
  });
  const ask = (schematicId: string) =>
    pxe.script({ schematicId, version: "v1.13.2", platarch: "metal-amd64" });
  expect(await madeAgain(ask, made, others)).toBe(times);
});
