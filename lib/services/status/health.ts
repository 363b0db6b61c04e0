/** Readiness: every part this process cannot work without, asked for real, with what to do when it is away. */
import type { ObjectStore } from "../../storage/object-store.ts";
import type { HealthCheck, HealthService, ReleaseService } from "../contracts.ts";

/** A part that does not answer in this time counts as away. */
const PATIENCE_MS = 3_000;
/** Load balancers ask often; the answer may be this old. */
const REMEMBERED_MS = 2_000;

export interface HealthServiceOptions {
  database: () => Promise<void>;
  redis: () => Promise<unknown>;
  store: ObjectStore;
  releases: ReleaseService;
  /** Names of missing programs with the Debian package that brings each; empty when all are there. */
  missingTools: () => Promise<{ tool: string; package: string }[]>;
  now: () => number;
}

/** The readiness use case. */
export function createHealthService(options: HealthServiceOptions): HealthService {
  let last: { at: number; checks: Promise<HealthCheck[]> } | null = null;
  return {
    readiness() {
      const now = options.now();
      if (last === null || now - last.at > REMEMBERED_MS) last = { at: now, checks: ask(options) };
      return last.checks;
    },
  };
}

function ask(options: HealthServiceOptions): Promise<HealthCheck[]> {
  const { database, redis, store, releases } = options;
  return Promise.all([
    check("tools", "Install the missing programs; the log names them and their Debian packages.", () =>
      checkTools(options),
    ),
    check("postgres", "Check DATABASE_URL and that Postgres runs.", database),
    check("redis", "Check REDIS_URL and that Redis runs.", redis),
    check("store", "Check the STORAGE and S3 settings and the free space.", () => store.check()),
    check("source", "Check SOURCE_REGISTRY and the way to it.", () => checkSource(releases)),
  ]);
}

async function check(
  name: HealthCheck["name"],
  hint: string,
  work: () => Promise<unknown>,
): Promise<HealthCheck> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS);
  });
  try {
    await Promise.race([work(), late]);
    return { name, ok: true, hint: "", reason: "" };
  } catch (error) {
    const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
    return { name, ok: false, hint, reason: lastLine(reason) };
  } finally {
    clearTimeout(timer);
  }
}

async function checkTools({ missingTools }: HealthServiceOptions): Promise<void> {
  const missing = await missingTools();
  if (missing.length === 0) return;
  const names = missing.map((one) => `${one.tool} (package ${one.package})`);
  throw new Error(`missing programs: ${names.join(", ")}.`);
}

/** With a list from before, releases are offered although the registry is away; without any, nothing works. */
async function checkSource(releases: ReleaseService): Promise<void> {
  const versions = await releases.versions();
  const { failure, checkedAt } = releases.status();
  if (versions.length === 0 && (failure !== null || checkedAt === null)) {
    throw new Error(`no release is known${failure === null ? "" : `: ${failure}`}.`);
  }
}

/** Driver errors are long; their last line says what happened. */
function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() ?? text;
}
