/** What the command keeps between runs is held against the signature rules of the run that uses it. */
import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createImageShelf } from "../../../cli/image-shelf.ts";
import { createPlanInputs } from "../../../cli/plan-inputs.ts";
import { commandSettings } from "../../../cli/settings.ts";
import { createRunTool } from "../../../lib/exec/run.ts";
import type { PlanInput } from "../../../lib/imager/types.ts";
import { makeLayer } from "../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../fixtures/fake-registry.ts";
import { failure, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

const REPOSITORY = "siderolabs/imager";
let fake: FakeRegistry;
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterAll(async () => {
  await fake.stop();
  await removeScratch();
});

/** One run of the command: the file of the image, by the rules of SOURCE_VERIFY. */
async function fetchKernel(digest: string, cacheDir: string, verify: string) {
  const variables = { SOURCE_REGISTRY: fake.url, SOURCE_VERIFY: verify, DATA_DIR: cacheDir };
  const settings = commandSettings(
    { "cache-dir": cacheDir },
    { variables, workingFolder: cacheDir, cores: 1 },
  );
  const shelf = createImageShelf(settings, createRunTool({ home: cacheDir }));
  const input: PlanInput = {
    ...{ id: "kernel", kind: "image-file", repository: REPOSITORY, digest },
    ...{ arch: "amd64", path: "usr/install/amd64/vmlinuz" },
  };
  const fetchInput = createPlanInputs(settings, shelf, { tell: () => undefined })({ inputs: [input] });
  return fetchInput(input, AbortSignal.timeout(60_000));
}

test("a file that is cached is not used when its image has no signature that counts", async () => {
  const layer = await makeLayer([{ name: "usr/install/amd64/vmlinuz", content: "kernel" }]);
  const { digest } = fake.push(REPOSITORY, "v1.13.2", { layers: [layer], arches: ["amd64"] });
  const cacheDir = await scratchFolder();
  const key = join(cacheDir, "cosign.pub");
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(key, publicKey.export({ type: "spki", format: "pem" }));
  const { path } = await fetchKernel(digest, cacheDir, "off");
  expect(await readFile(path, "utf8")).toBe("kernel");
  const refused = await failure(fetchKernel(digest, cacheDir, `key:${key}`));
  expect(refused.code).toBe("source_invalid");
  expect(refused.message).toContain(`${REPOSITORY}@${digest}`);
  expect(await readFile((await fetchKernel(digest, cacheDir, "off")).path, "utf8")).toBe("kernel");
});
