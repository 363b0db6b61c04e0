/** `casthouse imager <profile>|-`: makes one file from a profile, without any server. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { assetFileName, imagerFileName } from "../lib/domain/asset-path.ts";
import { type CompleteProfile, completeProfile } from "../lib/domain/imager-profile/complete.ts";
import { decodeProfile } from "../lib/domain/imager-profile/decode.ts";
import { assetProfileOf } from "../lib/domain/imager-profile/recipe.ts";
import type { ImagerProfile } from "../lib/domain/imager-profile/types.ts";
import { selectVersions } from "../lib/domain/versions.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { createRunTool, type RunTool } from "../lib/exec/run.ts";
import { archHere } from "../lib/services/inputs/host-arch.ts";
import type { FetchInput } from "../lib/services/inputs/input-fetcher.ts";
import { IMAGER } from "../lib/services/releases/discovery.ts";
import { inheritProfile } from "./base-profile.ts";
import type { CommandIo } from "./command-io.ts";
import { deliverArchive, deliverFile, outputFolder } from "./deliver.ts";
import { type ImagerFlags, parseImagerFlags, profileOfFlags } from "./flags.ts";
import { createImageShelf, type ImageShelf } from "./image-shelf.ts";
import { createPlanInputs } from "./plan-inputs.ts";
import { readProfileKeys } from "./profile-keys.ts";
import { type PreparedPlan, prepareProfile } from "./profile-plan.ts";
import { progressWriter } from "./progress.ts";
import { planOfSchematic, readSchematic } from "./schematic-plan.ts";
import { type CommandSettings, commandSettings } from "./settings.ts";
import { buildPlan } from "./workshop.ts";

/** Gives the path of the file, null when it went to standard output. */
export async function imagerCommand(args: string[], io: CommandIo): Promise<string | null> {
  const { profile: name, flags } = parseImagerFlags(args);
  const settings = commandSettings(flags);
  const run = createRunTool();
  const shelf = createImageShelf(settings, run);
  const written = await readProfile(name, flags, settings, io);
  const profile = completeProfile(await withVersion(await inheritProfile(written, shelf, settings), shelf));
  const prepared = await prepare(profile, flags, shelf, settings);
  const asset = assetProfileOf(profile);
  const compressed = asset.kind !== "image" && asset.outFormat !== "raw" ? asset.outFormat : "";
  const fileName = `${imagerFileName(asset)}${compressed}`;
  const workshop = {
    root: join(settings.cacheDir, "scratch"),
    run,
    fetchInput: fetchInputs(prepared, shelf, settings, io),
    keys: prepared.keys,
    onProgress: progressWriter(io.tell),
    signal: io.signal,
  };
  return buildPlan(prepared.plan, workshop, (file, scratch) =>
    deliver(file, { fileName, scratch, run }, flags, settings, io),
  );
}

async function deliver(
  file: string,
  made: { fileName: string; scratch: string; run: RunTool },
  flags: ImagerFlags,
  { workingFolder }: CommandSettings,
  io: CommandIo,
): Promise<string | null> {
  const { fileName, scratch, run } = made;
  if (flags["tar-to-stdout"] === true) {
    await deliverArchive(file, fileName, scratch, run, io.out);
    return null;
  }
  return deliverFile(file, outputFolder(flags.output, workingFolder), fileName);
}

async function readProfile(
  name: string,
  flags: ImagerFlags,
  { workingFolder }: CommandSettings,
  io: CommandIo,
): Promise<ImagerProfile> {
  const read = (path: string) => readFileSync(resolve(workingFolder, path), "utf8");
  const profile = name === "-" ? decodeProfile(await io.readInput()) : profileOfFlags(name, flags, read);
  return profile.arch === undefined || profile.arch === "" ? { ...profile, arch: archHere("host") } : profile;
}

/** Without a version the newest release of the source is meant. */
async function withVersion(profile: ImagerProfile, shelf: ImageShelf): Promise<ImagerProfile> {
  if (profile.version !== undefined && profile.version !== "") return profile;
  const versions = selectVersions(await shelf.source.tags(IMAGER), { min: "1.2.0", broken: [] });
  const version = versions.filter((candidate) => !candidate.includes("-")).at(-1) ?? versions.at(-1);
  if (version === undefined) throw invalidInput("the source registry has no release; name a version");
  return { ...profile, version };
}

async function prepare(
  profile: CompleteProfile,
  flags: ImagerFlags,
  shelf: ImageShelf,
  settings: CommandSettings,
): Promise<PreparedPlan> {
  if (flags.schematic === undefined) return prepareProfile(profile, shelf, settings);
  const schematic = await readSchematic(resolve(settings.workingFolder, flags.schematic));
  const request = { schematic, version: profile.version, path: assetFileName(assetProfileOf(profile)) };
  const keys = profile.secureboot ? await readProfileKeys(profile, settings) : null;
  const plan = await planOfSchematic(request, shelf, settings, keys);
  return { plan, keys, locate: () => null };
}

function fetchInputs(
  { plan, locate }: PreparedPlan,
  shelf: ImageShelf,
  settings: CommandSettings,
  io: CommandIo,
): FetchInput {
  const fetchImage = createPlanInputs(settings, shelf, io);
  const real = plan.inputs.map((input) => {
    const place = locate(input);
    return place !== null && "digest" in place ? { ...input, digest: place.digest } : input;
  });
  const fetchReal = fetchImage({ ...plan, inputs: real });
  return async (input, signal) => {
    const place = locate(input);
    if (place !== null && "product" in place) return place.product;
    return fetchReal(real.find(({ id }) => id === input.id) ?? input, signal);
  };
}
