/** Says what is wrong with an extension before anyone boots it. docs/own-extensions.md lists every code. */
import { join } from "node:path";
import type { ExtensionReport } from "../../domain/extension-report.ts";
import { quirks } from "../../domain/quirks.ts";
import { invalidInput } from "../../errors/app-error.ts";
import { systemCode } from "../../errors/system-code.ts";
import { FileMap } from "./file-map.ts";
import { checkFiles } from "./file-rules.ts";
import { Findings } from "./findings.ts";
import { checkLayout } from "./layout.ts";
import { checkModules } from "./modules.ts";
import { checkPrograms, readPrograms } from "./programs.ts";
import { checkServices } from "./service.ts";
import type { CheckOptions, ExtensionTree } from "./types.ts";

/** Looks at every file of the folder; nothing of it is run. invalid_input when it cannot be looked at. */
export async function checkExtension(tree: ExtensionTree, options: CheckOptions): Promise<ExtensionReport> {
  try {
    return await check(tree, options);
  } catch (error) {
    if (systemCode(error) !== "EACCES") throw error;
    throw invalidInput("A file of the extension cannot be read by its owner", {
      hint: "Give all files the permission to be read: neither checks nor builds can look inside them.",
      cause: error,
    });
  }
}

async function check(tree: ExtensionTree, options: CheckOptions): Promise<ExtensionReport> {
  const { arch, release, signal } = options;
  const findings = new Findings();
  const rules = release === null ? null : quirks(release.version);
  const { metadata, hasRootfs } = await checkLayout(tree.dir, release, findings);
  const report = { metadata, arch, talos: release?.version ?? null };
  if (!hasRootfs)
    return { ...report, findings: findings.all(), files: 0, sizeBytes: 0, services: [], kernels: [] };
  const map = await FileMap.of(join(tree.dir, "rootfs"), signal);
  const services = await checkServices(map, findings);
  await checkFiles(map, { rules, services }, findings, signal);
  const programs = await readPrograms(map, signal);
  await checkPrograms(map, programs, { arch, services }, findings, signal);
  const kernels = await checkModules(map, programs, { release, rules }, findings);
  const entries = map.all();
  return {
    ...report,
    findings: findings.all(),
    files: entries.filter(({ kind }) => kind !== "folder").length,
    sizeBytes: entries.reduce((sum, entry) => sum + entry.sizeBytes, 0),
    services: services.map(({ name, environment, environmentFile, mounts }) => ({
      ...{ name, environment, environmentFile, mounts },
    })),
    kernels,
  };
}
