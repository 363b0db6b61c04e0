/** `casthouse build --lock lock.json <file>`: makes a file from the inputs that a lock pins. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type ModelLock, parseModelLock } from "../lib/domain/model-lock.ts";
import { AppError, invalidInput } from "../lib/errors/app-error.ts";
import { createRunTool } from "../lib/exec/run.ts";
import { readInstalledGrub } from "../lib/imager/grub-modules.ts";
import { planAsset } from "../lib/imager/plan.ts";
import { readSecureBootKeys } from "../lib/keys/read-keys.ts";
import { createOverlayProfiles } from "../lib/services/inputs/overlay-profiles.ts";
import { readLockBuilder } from "../lib/services/locks/lock-builder.ts";
import { createLockBuilds } from "../lib/services/locks/lock-builds.ts";
import type { CommandIo } from "./command-io.ts";
import { deliverFile, outputFolder } from "./deliver.ts";
import { readArguments } from "./flags.ts";
import { createImageShelf } from "./image-shelf.ts";
import { createPlanInputs } from "./plan-inputs.ts";
import { progressWriter } from "./progress.ts";
import { findSchematic } from "./schematic-plan.ts";
import { commandSettings } from "./settings.ts";
import { buildPlan } from "./workshop.ts";

const OPTIONS = {
  lock: { type: "string" },
  schematic: { type: "string" },
  strict: { type: "boolean" },
  output: { type: "string" },
  source: { type: "string" },
  "external-url": { type: "string" },
  "cache-dir": { type: "string" },
} as const;

/** Gives the path of the file. What differs from where the lock was made is told, or refused with --strict. */
export async function buildCommand(args: string[], io: CommandIo): Promise<string> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [path, ...rest] = positionals;
  if (values.lock === undefined || path === undefined || rest.length > 0) {
    throw invalidInput("casthouse build takes a lock and a file name", {
      hint: "For example: casthouse build --lock lock.json metal-amd64.iso",
    });
  }
  const settings = commandSettings(values);
  const lock = await readLock(resolve(settings.workingFolder, values.lock));
  refuseOwnInputs(lock);
  const from = values["external-url"] ?? lock.builder.externalUrl;
  const schematic = await findSchematic(values.schematic ?? lock.schematic, from);
  if (schematic.id !== lock.schematic) throw otherSchematic(schematic.id, lock.schematic);
  const run = createRunTool();
  const shelf = createImageShelf(settings, run);
  const keys = settings.keyFiles === null ? null : await readSecureBootKeys(settings.keyFiles);
  const signing = keys?.identity ?? null;
  const installedGrub = await readInstalledGrub();
  const builds = createLockBuilds({
    resolving: {
      ...{ planAsset, installedGrub, signing },
      schematics: { find: () => Promise.resolve(schematic) },
      overlayProfiles: createOverlayProfiles(shelf.source),
    },
    images: shelf.source,
    store: { head: () => Promise.resolve(null) },
    builder: await readLockBuilder({ externalUrl: from, grub: installedGrub, secureBoot: signing }),
  });
  const { asset, differences } = await builds.resolve(lock, path);
  for (const difference of differences) io.tell(`differs from the lock: ${difference}`);
  if (values.strict === true && differences.length > 0) throw differing(differences);
  await builds.requireInputs(lock, asset, io.signal);
  const workshop = {
    root: join(settings.cacheDir, "scratch"),
    ...{ run, keys, fetchInput: createPlanInputs(settings, shelf, io)(asset.plan) },
    onProgress: progressWriter(io.tell),
    signal: io.signal,
  };
  const folder = outputFolder(values.output, settings.workingFolder);
  return buildPlan(asset.plan, workshop, (file) => deliverFile(file, folder, path));
}

/** Own images lie in the registry of a factory, which only that factory builds from. */
function refuseOwnInputs({ inputs, builder }: ModelLock): void {
  const own = inputs.find(({ source }) => source === "own");
  if (own === undefined) return;
  throw invalidInput(`${own.name} lies in the registry of ${builder.externalUrl}`, {
    hint: `Send the lock there: POST ${builder.externalUrl}/api/v1/locks, then GET the file below it.`,
  });
}

async function readLock(file: string) {
  const text = await readFile(file, "utf8");
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw invalidInput(`${file} is not JSON`, { cause });
  }
  return parseModelLock(document);
}

const otherSchematic = (given: string, locked: string) =>
  invalidInput(`the lock is of schematic ${locked}, not of ${given}`);

const differing = (differences: string[]) =>
  new AppError("conflict", `this machine differs from the one of the lock in ${differences.length} things`, {
    hint: "Leave out --strict to get the file as this machine makes it.",
    retryable: false,
  });
