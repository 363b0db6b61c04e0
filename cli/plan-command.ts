/** `casthouse plan <id|schematic.yaml> <version> <path>`: shows what the service would do, as JSON. */
import { parseArgs } from "node:util";
import { invalidInput } from "../lib/errors/app-error.ts";
import { createRunTool } from "../lib/exec/run.ts";
import { redactPlan } from "../lib/imager/plan.ts";
import { readSecureBootKeys } from "../lib/keys/read-keys.ts";
import type { CommandIo } from "./command-io.ts";
import { readArguments } from "./flags.ts";
import { createImageShelf } from "./image-shelf.ts";
import { findSchematic, planOfSchematic } from "./schematic-plan.ts";
import { commandSettings } from "./settings.ts";

const OPTIONS = {
  source: { type: "string" },
  "external-url": { type: "string" },
  "cache-dir": { type: "string" },
} as const;

/** Writes the plan, secrets replaced by their length, and its key. */
export async function planCommand(args: string[], io: CommandIo): Promise<void> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [named, version, path, ...rest] = positionals;
  if (named === undefined || version === undefined || path === undefined || rest.length > 0) {
    throw invalidInput("casthouse plan takes a schematic (file or ID), a version and a file name", {
      hint: "For example: casthouse plan schematic.yaml v1.13.0 metal-amd64.iso",
    });
  }
  const settings = commandSettings(values);
  const schematic = await findSchematic(named, settings.externalUrl);
  const shelf = createImageShelf(settings, createRunTool());
  const keys = settings.keyFiles === null ? null : await readSecureBootKeys(settings.keyFiles);
  const plan = await planOfSchematic({ schematic, version, path }, shelf, settings, keys);
  io.out.write(`${JSON.stringify({ schematicId: schematic.id, plan: redactPlan(plan) }, null, 2)}\n`);
}
