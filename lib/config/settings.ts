/** From environment variables to checked settings; all problems are collected, none is thrown. */
import { accessSync, constants, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { systemCode } from "../errors/system-code.ts";
import type { Environment } from "./environment.ts";
import { exampleSecretProblems } from "./example-secrets.ts";
import { requireMeta, SETTING_NAMES, type SettingName, type Settings, settingsSchema } from "./schema.ts";
import { verificationKind } from "./source-verification.ts";

export interface Problem {
  /** The variable to change. */
  name: string;
  /** Completes "NAME …". */
  message: string;
}

export interface SettingsResult {
  settings: Settings;
  problems: Problem[];
  warnings: Problem[];
}

/** Reads every known variable (secrets also from NAME_FILE). Values with a problem are left out of the settings. */
export function readSettings(environment: Environment): SettingsResult {
  const problems: Problem[] = [];
  const texts: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const text = readText(name, environment, problems);
    if (text !== undefined) texts[name] = text;
  }
  const first = settingsSchema.safeParse(texts);
  for (const issue of first.error?.issues ?? []) {
    const name = SETTING_NAMES.find((known) => known === issue.path[0]);
    if (name === undefined) continue;
    problems.push({ name, message: issue.message });
    delete texts[name];
  }
  const settings = first.success ? first.data : settingsSchema.parse(texts);
  problems.push(...crossProblems(settings, texts, environment));
  return { settings, problems, warnings: warningsOf(texts, settings) };
}

/** A variable that is set to nothing counts as not set, as in compose files. */
function readText(name: SettingName, environment: Environment, problems: Problem[]): string | undefined {
  const { variables, workingFolder } = environment;
  const own = variables[name]?.trim() || undefined;
  const file = requireMeta(name).secret ? variables[`${name}_FILE`]?.trim() || undefined : undefined;
  if (file === undefined) return own;
  if (own !== undefined) {
    problems.push({ name: `${name}_FILE`, message: `is set together with ${name}; set one of them` });
    return own;
  }
  try {
    const text = readFileSync(resolve(workingFolder, file), "utf8").trim();
    if (text === "") problems.push({ name: `${name}_FILE`, message: `names the empty file ${file}` });
    return text || undefined;
  } catch (error) {
    const code = systemCode(error) ?? "unknown reason";
    problems.push({ name: `${name}_FILE`, message: `names ${file}, which cannot be read (${code})` });
    return undefined;
  }
}

function crossProblems(
  settings: Settings,
  texts: Partial<Record<SettingName, string>>,
  environment: Environment,
): Problem[] {
  const problems: Problem[] = [];
  const need = (name: SettingName, because: string) => {
    if (texts[name] === undefined && !environment.variables[name])
      problems.push({ name, message: `is needed ${because}` });
  };
  if (settings.STORAGE === "s3") need("S3_BUCKET", "when STORAGE is s3");
  if (settings.S3_ACCESS_KEY_ID !== undefined) need("S3_SECRET_ACCESS_KEY", "when S3_ACCESS_KEY_ID is set");
  if (settings.S3_SECRET_ACCESS_KEY !== undefined)
    need("S3_ACCESS_KEY_ID", "when S3_SECRET_ACCESS_KEY is set");
  if (settings.SOURCE_USERNAME !== undefined) need("SOURCE_PASSWORD", "when SOURCE_USERNAME is set");
  if (settings.SOURCE_PASSWORD !== undefined) need("SOURCE_USERNAME", "when SOURCE_PASSWORD is set");
  problems.push(...exampleSecretProblems(settings), ...secureBootProblems(settings, environment));
  const verify = settings.SOURCE_VERIFY;
  if (verify?.kind === "key" && !isReadable(resolve(environment.workingFolder, verify.file))) {
    problems.push({
      name: "SOURCE_VERIFY",
      message: `names the key file ${verify.file}, which cannot be read`,
    });
  }
  const trustRoot = settings.SOURCE_TRUST_ROOT;
  if (trustRoot !== undefined && !isReadable(resolve(environment.workingFolder, trustRoot)))
    problems.push({ name: "SOURCE_TRUST_ROOT", message: `names ${trustRoot}, which cannot be read` });
  if (settings.OWN_EXTENSIONS === "admin") need("ADMIN_TOKEN", "when OWN_EXTENSIONS is admin");
  for (const name of ["OCI_SIGNING_KEY", "OWN_EXTENSIONS_FILE", "OWN_REGISTRY_AUTH_FILE"] as const) {
    const file = settings[name];
    if (file !== undefined && !isReadable(resolve(environment.workingFolder, file)))
      problems.push({ name, message: `names ${file}, which cannot be read` });
  }
  return problems;
}

const SECURE_BOOT = ["SECUREBOOT_SIGNING_KEY", "SECUREBOOT_SIGNING_CERT", "SECUREBOOT_PCR_KEY"] as const;

/** All three files or none, and all readable; whether they belong together is seen when they are loaded. */
function secureBootProblems(settings: Settings, environment: Environment): Problem[] {
  const given = SECURE_BOOT.filter((name) => settings[name] !== undefined);
  if (given.length === 0) return [];
  return SECURE_BOOT.flatMap((name): Problem[] => {
    const file = settings[name];
    if (file === undefined) return [{ name, message: `is needed beside ${given.join(" and ")}` }];
    if (isReadable(resolve(environment.workingFolder, file))) return [];
    return [{ name, message: `names the file ${file}, which cannot be read` }];
  });
}

function warningsOf(texts: Partial<Record<SettingName, string>>, settings: Settings): Problem[] {
  const warnings: Problem[] = SETTING_NAMES.filter(
    (name) => requireMeta(name).planned && texts[name] !== undefined,
  ).map((name) => ({ name, message: "is set, but nothing uses it yet" }));
  if (settings.STORAGE === "directory" && settings.S3_BUCKET !== undefined) {
    warnings.push({ name: "S3_BUCKET", message: "is set, but STORAGE is directory, so no bucket is used" });
  }
  const { kind } = verificationKind(settings);
  if (kind === "off") {
    const why = settings.SOURCE_VERIFY ? "" : ", as SOURCE_REGISTRY is on this machine";
    const message = `is off${why}: signatures of source images are not checked`;
    warnings.push({ name: "SOURCE_VERIFY", message });
  }
  if (kind !== "keyless" && settings.SOURCE_TRUST_ROOT !== undefined)
    warnings.push({
      name: "SOURCE_TRUST_ROOT",
      message: `is set, but SOURCE_VERIFY is ${kind}, so it is not used`,
    });
  if (settings.BUILD_ENGINE === "native") {
    for (const name of ["BUILD_CONTAINER_RUNNER", "BUILD_IMAGER_IMAGE"] as const) {
      if (texts[name] !== undefined)
        warnings.push({ name, message: "is set, but BUILD_ENGINE is native, so no container is run" });
    }
  }
  return warnings;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
