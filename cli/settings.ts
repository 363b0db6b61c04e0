/** What the command line and the environment say about sources and folders. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { inDataDir } from "../lib/config/data-folders.ts";
import { type Environment, readEnvironment } from "../lib/config/environment.ts";
import { dataDirOf, toSecureBoot, toSource } from "../lib/config/load.ts";
import { readSettings } from "../lib/config/settings.ts";
import type { Config } from "../lib/config/types.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import type { KeyFiles } from "../lib/keys/types.ts";

export interface CommandSettings {
  source: Config["source"];
  /** Absolute; downloads stay here between runs. */
  cacheDir: string;
  externalUrl: string;
  workingFolder: string;
  /** Keys that SECUREBOOT_* variables name, null without. */
  keyFiles: KeyFiles | null;
}

export interface SettingFlags {
  source?: string | undefined;
  "cache-dir"?: string | undefined;
  "external-url"?: string | undefined;
}

/** Flags win over variables (docs/config.md). invalid_input naming the variable that is wrong. */
export function commandSettings(
  flags: SettingFlags,
  environment: Environment = readEnvironment(),
): CommandSettings {
  const variables: Environment["variables"] = {
    ...environment.variables,
    ...(flags.source === undefined ? {} : { SOURCE_REGISTRY: flags.source }),
    ...(flags["external-url"] === undefined ? {} : { EXTERNAL_URL: flags["external-url"] }),
  };
  const { settings, problems } = readSettings({ ...environment, variables });
  const used = problems.find(({ name }) => /^(SOURCE|EXTERNAL|SECUREBOOT)_/.test(name));
  if (used !== undefined) throw invalidInput(`${used.name} ${used.message}`);
  const { workingFolder } = environment;
  const home = variables.XDG_CACHE_HOME || join(variables.HOME || homedir(), ".cache");
  const shared =
    (variables.DATA_DIR ?? "") === "" ? join(home, "casthouse") : inDataDir(settings.DATA_DIR, "cache/cli");
  const secureBoot = toSecureBoot(settings, dataDirOf(settings, environment), environment);
  return {
    source: toSource(settings, environment),
    cacheDir: resolve(workingFolder, flags["cache-dir"] ?? shared),
    externalUrl: settings.EXTERNAL_URL ?? `http://localhost:${settings.PORT}`,
    workingFolder,
    keyFiles: secureBoot.kind === "files" ? secureBoot : null,
  };
}
