/** The configuration of a web or worker process, or all that is wrong with it. */
import { resolve } from "node:path";
import { inDataDir } from "./data-folders.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { toOwnExtensions } from "./own-extensions.ts";
import type { Settings } from "./schema.ts";
import { type Problem, readSettings } from "./settings.ts";
import { toVerification } from "./source-verification.ts";
import type { Config } from "./types.ts";

export type LoadResult =
  | { ok: true; config: Config; warnings: Problem[] }
  | { ok: false; problems: Problem[]; warnings: Problem[] };

/** sysexits.h EX_CONFIG: the configuration is wrong, starting again does not help. */
export const EXIT_CONFIG = 78;

/** Set by `npm start` for the processes it runs; not for operators. */
const EMBEDDED = "CASTHOUSE_EMBEDDED";

/** Pure but for the files that variables name. Web and worker need both server addresses. */
export function loadConfig(environment: Environment): LoadResult {
  const { settings, problems, warnings } = readSettings(environment);
  const missing = (["DATABASE_URL", "REDIS_URL"] as const).filter(
    (name) => settings[name] === undefined && !problems.some((problem) => problem.name.startsWith(name)),
  );
  for (const name of missing) {
    problems.push({
      name,
      message: "is needed by a single web or worker process; npm start brings its own servers",
    });
  }
  const { DATABASE_URL: database, REDIS_URL: redis } = settings;
  if (problems.length > 0 || database === undefined || redis === undefined)
    return { ok: false, problems, warnings };
  return { ok: true, config: Object.freeze(toConfig(settings, { database, redis }, environment)), warnings };
}

/** For entry points: the configuration, or every problem on standard error and exit code 78. */
export function loadConfigOrExit(): Config {
  const result = loadConfig(readEnvironment());
  if (result.ok) {
    printProblems("warning", result.warnings);
    return result.config;
  }
  exitWithProblems(result.problems);
}

/** Prints every problem with the name of its variable and ends the process with exit code 78. */
export function exitWithProblems(problems: Problem[]): never {
  printProblems("error", problems);
  process.stderr.write("The variables are described in docs/config.md.\n");
  process.exit(EXIT_CONFIG);
}

function printProblems(kind: "warning" | "error", problems: Problem[]): void {
  for (const { name, message } of problems)
    process.stderr.write(`configuration ${kind}: ${name} ${message}\n`);
}

function toConfig(
  settings: Settings,
  servers: { database: string; redis: string },
  environment: Environment,
): Config {
  const port = settings.PORT;
  const externalUrl = settings.EXTERNAL_URL ?? `http://localhost:${port}`;
  const dataDir = dataDirOf(settings, environment);
  return {
    development: environment.variables.NODE_ENV === "development",
    appDir: environment.workingFolder,
    http: {
      host: settings.HOST,
      port,
      externalUrl,
      externalPxeUrl: settings.EXTERNAL_PXE_URL ?? externalUrl,
    },
    dataDir,
    database: { url: servers.database },
    redis: { url: servers.redis },
    storage: toStorage(settings, dataDir),
    source: toSource(settings, environment),
    installerRegistry: toInstallerRegistry(settings),
    build: {
      engine: toEngine(settings),
      concurrency: settings.BUILD_CONCURRENCY ?? environment.cores,
      timeoutMs: settings.BUILD_TIMEOUT,
    },
    ociSigningKey: toOciSigningKey(settings, dataDir, environment),
    secureBoot: toSecureBoot(settings, dataDir, environment),
    own: toOwnExtensions(settings, {
      workingFolder: environment.workingFolder,
      embedded: environment.variables[EMBEDDED] === "1",
    }),
    metricsPort: settings.METRICS_PORT ?? null,
    logLevel: settings.LOG_LEVEL,
  };
}

function toEngine(settings: Settings): Config["build"]["engine"] {
  if (settings.BUILD_ENGINE === "native") return { kind: "native" };
  return {
    kind: "container",
    runner: settings.BUILD_CONTAINER_RUNNER,
    dockerHost: settings.DOCKER_HOST ?? null,
    imager: settings.BUILD_IMAGER_IMAGE ?? null,
  };
}

/** Absolute folder of everything the factory keeps on this machine. */
export function dataDirOf(settings: Settings, environment: Environment): string {
  return resolve(environment.workingFolder, settings.DATA_DIR);
}

function toStorage(settings: Settings, dataDir: string): Config["storage"] {
  const kind = settings.STORAGE ?? (settings.S3_BUCKET === undefined ? "directory" : "s3");
  if (kind === "directory" || settings.S3_BUCKET === undefined)
    return { kind: "directory", path: inDataDir(dataDir, "objects") };
  return {
    kind: "s3",
    endpoint: settings.S3_ENDPOINT ?? null,
    bucket: settings.S3_BUCKET,
    region: settings.S3_REGION,
    accessKeyId: settings.S3_ACCESS_KEY_ID ?? null,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY ?? null,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE ?? settings.S3_ENDPOINT !== undefined,
  };
}

function toInstallerRegistry(settings: Settings): Config["installerRegistry"] {
  const { INSTALLER_REGISTRY: registry } = settings;
  if (registry === undefined) return null;
  const { INSTALLER_REGISTRY_USERNAME: username, INSTALLER_REGISTRY_PASSWORD: password } = settings;
  return { registry, username: username ?? null, password: password ?? null };
}

/** A key is made only where one machine holds everything: two that made their own would contradict each other. */
function toOciSigningKey(
  settings: Settings,
  dataDir: string,
  environment: Environment,
): Config["ociSigningKey"] {
  if (settings.OCI_SIGNING_KEY !== undefined)
    return { file: resolve(environment.workingFolder, settings.OCI_SIGNING_KEY), create: false };
  if (environment.variables[EMBEDDED] !== "1") return null;
  return { file: inDataDir(dataDir, "keys/oci-signing.key"), create: true };
}

/** Without files, keys are made only by `npm start`: several machines would make different ones. */
export function toSecureBoot(
  settings: Settings,
  dataDir: string,
  environment: Environment,
): Config["secureBoot"] {
  const { SECUREBOOT_SIGNING_KEY: key, SECUREBOOT_SIGNING_CERT: cert, SECUREBOOT_PCR_KEY: pcr } = settings;
  if (key !== undefined && cert !== undefined && pcr !== undefined) {
    const [signingKey = key, signingCertificate = cert, pcrKey = pcr] = [key, cert, pcr].map((file) =>
      resolve(environment.workingFolder, file),
    );
    return { kind: "files", signingKey, signingCertificate, pcrKey };
  }
  if (environment.variables[EMBEDDED] !== "1") return { kind: "off" };
  return { kind: "created", folder: inDataDir(dataDir, "keys/secureboot") };
}

/** The source registry alone, for programs that need no servers. */
export function toSource(settings: Settings, environment: Environment): Config["source"] {
  return {
    registry: settings.SOURCE_REGISTRY,
    publicName: settings.SOURCE_PUBLIC_NAME,
    username: settings.SOURCE_USERNAME ?? null,
    password: settings.SOURCE_PASSWORD ?? null,
    verify: toVerification(settings, environment.workingFolder),
    refreshMs: settings.SOURCE_REFRESH,
    minVersion: settings.MIN_TALOS_VERSION,
    brokenVersions: settings.BROKEN_TALOS_VERSIONS ?? [],
  };
}
