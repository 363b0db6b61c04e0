/**
 * `npm run table`: builds every file name of platform × architecture × format × release × SecureBoot from the sample
 * release and has each product checked by the program its users would use. What rules refuse is counted with the reason.
 * Options: --platforms metal,aws  --arches amd64  --versions v1.13.2  --formats iso,ova  --jobs 2
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ARCHES, type Arch } from "../lib/domain/asset.ts";
import { platformNames } from "../lib/domain/platforms.ts";
import { AppError } from "../lib/errors/app-error.ts";
import { checkProduct } from "./table/checks.ts";
import { openTableFactory, type TableFactory } from "./table/factory.ts";
import { FORMATS, type Group, groupsOf, namesOf } from "./table/names.ts";
import { Results } from "./table/results.ts";

const VERSIONS = ["v1.9.5", "v1.12.4", "v1.13.2", "v1.14.0-beta.1"];

const { values } = parseArgs({
  options: {
    platforms: { type: "string", default: platformNames().join(",") },
    arches: { type: "string", default: ARCHES.join(",") },
    versions: { type: "string", default: VERSIONS.join(",") },
    formats: { type: "string", default: FORMATS.join(",") },
    jobs: { type: "string", default: "2" },
  },
});
const list = (text: string): string[] => text.split(",").filter(Boolean);
const isArch = (text: string): text is Arch => ARCHES.some((arch) => arch === text);

async function buildGroup(factory: TableFactory, group: Group, results: Results): Promise<void> {
  const shop = await factory.openGroup();
  try {
    for (const path of namesOf(group, list(values.formats))) {
      const started = performance.now();
      const name = `${group.version} ${path}`;
      try {
        const { file, profile } = await shop.build(group.version, path);
        await checkProduct({
          file,
          profile,
          ...group,
          certificate: factory.certificateFile,
          scratch: shop.dir,
        });
        results.made(name, performance.now() - started);
        await rm(file, { force: true });
      } catch (error) {
        const refused =
          error instanceof AppError && (error.code === "invalid_input" || error.code === "not_implemented");
        if (refused) results.refused(name, error.message);
        else results.failed(name, error);
      }
    }
  } finally {
    await shop.close();
  }
}

async function main(): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "casthouse-table-"));
  const factory = await openTableFactory(root);
  const results = new Results((line) => console.log(line));
  try {
    const groups = groupsOf(
      list(values.platforms),
      list(values.arches).filter(isArch),
      list(values.versions),
    );
    const work = groups.values();
    const runner = async (): Promise<void> => {
      for (const group of work) await buildGroup(factory, group, results);
    };
    await Promise.all(Array.from({ length: Number(values.jobs) }, runner));
  } finally {
    await factory.close();
    await rm(root, { recursive: true, force: true });
  }
  process.exitCode = results.summary() ? 0 : 1;
}

await main();
