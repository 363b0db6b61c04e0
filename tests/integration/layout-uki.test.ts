/** Every recorded unified kernel image, whole: header, sections in order with addresses, sizes and texts. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Arch } from "../../lib/domain/asset.ts";
import { addArmFiles } from "../fixtures/imager-arm-files.ts";
import { type BootWorkshop, bootRecipe, bootWorkshop } from "../fixtures/imager-boot-fixture.ts";
import { describePe, expectedPe, placedBySize, withOurStub } from "../fixtures/layout/pe.ts";
import { RECORDED_UKIS } from "../fixtures/layout/recorded.ts";
import { testKeys } from "../fixtures/secure-boot.ts";

const signer = await testKeys();
let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop(signer.keys);
  await addArmFiles(shop);
}, 400_000);
afterAll(() => shop?.close());

it("come in seven, and their places follow from their sizes by the rules used here", () => {
  expect(Object.keys(RECORDED_UKIS)).toHaveLength(7);
  for (const [name, recorded] of Object.entries(RECORDED_UKIS)) {
    expect(placedBySize(recorded), name).toEqual(recorded);
  }
});

it.each(Object.entries(RECORDED_UKIS))("%s is as recorded in every field", async (name, recorded) => {
  const [version = "", file = ""] = name.split(" ");
  const [platform = "", arch] = file.split("-");
  const secureboot = file.includes("secureboot");
  const base = bootRecipe("uki");
  const { product } = await shop.build({
    ...base,
    version,
    profile: {
      ...base.profile,
      platform,
      arch: arch === "arm64" ? "arm64" : ("amd64" satisfies Arch),
      secureboot,
    },
    ...(secureboot ? { signing: signer.keys.identity } : {}),
  });
  const ours = describePe(await readFile(product.path));
  expect(ours).toEqual(expectedPe(withOurStub(recorded, ours), ours));
});
