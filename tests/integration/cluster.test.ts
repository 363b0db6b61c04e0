/** Making the embedded database, and leaving one alone that is there. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ensureCluster } from "../../scripts/embedded/postgres.ts";

let dir: string;
let cluster: string;
let password: string;
const ensure = () => ensureCluster(cluster, password);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-cluster-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  [cluster, password] = [join(dir, "postgres"), join(dir, "password")];
});

test("a cluster that is there stays, whatever else is lost; a half-made one beside it is made anew", async () => {
  await mkdir(`${cluster}.new`);
  await writeFile(join(`${cluster}.new`, "PG_VERSION"), "half");
  const made = await ensure();
  expect(await readdir(dir)).toEqual(["password", "postgres"]);
  await writeFile(join(cluster, "kept"), "rows");
  expect(await ensure()).toBe(made);
  expect(await readFile(join(cluster, "kept"), "utf8")).toBe("rows");
  await rename(password, `${password}.lost`);
  await expect(ensure()).rejects.toThrow(/is there, but its password .* cannot be read \(ENOENT\)/);
  expect(await readFile(join(cluster, "kept"), "utf8")).toBe("rows");
});

test("a folder that is no cluster, or cannot be read, is left alone", async () => {
  await mkdir(cluster);
  await writeFile(join(cluster, "base"), "rows");
  await expect(ensure()).rejects.toThrow("no PG_VERSION");
  expect(await readdir(cluster)).toEqual(["base"]);
  await rm(cluster, { recursive: true });
  await writeFile(cluster, "a file");
  await expect(ensure()).rejects.toThrow("cannot be read (ENOTDIR); nothing was changed");
});
