/** What keyless signatures are checked against: the keys of CA, logs and time stamps, from a file or kept up to date by TUF. */
import { readFileSync } from "node:fs";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { type TrustMaterial, toTrustMaterial } from "@sigstore/verify";
import { AppError, invalidInput } from "../errors/app-error.ts";
import {
  keepTrustState,
  readTrustState,
  type TrustState,
  type TufSource,
  updateTrustState,
} from "./trust-state.ts";

export interface TrustRoot {
  /** The keys; upstream_unavailable, saying what to do, when there are none. */
  material(): Promise<TrustMaterial>;
}

export interface TufTrustOptions {
  source: TufSource;
  /** File that keeps what TUF last gave; may be shared by processes of one machine. */
  stateFile: string;
  onWarning: (message: string, cause: unknown) => void;
  now?: () => number;
}

/** What TUF gave is taken for so long without asking again. */
const FRESH_MS = 24 * 3_600_000;
/** After a failure what is there is used for so long before TUF is asked again. */
const RETRY_MS = 10 * 60_000;

/** Reads the file at once; invalid_input naming it when it cannot be used. Never asks anybody. */
export function fileTrustRoot(file: string): TrustRoot {
  try {
    const material = parseTrustRoot(readFileSync(file, "utf8"));
    return { material: async () => material };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidInput(`the trust root ${file} cannot be used: ${reason}`, {
      hint: "SOURCE_TRUST_ROOT wants a trusted_root.json as Sigstore publishes it",
      cause,
    });
  }
}

/** What is known, and until when it is taken without asking again. */
interface Known {
  outcome: TrustMaterial | AppError;
  until: number;
}

/** Asks TUF when somebody needs the keys and those that are kept are old; nothing is asked before. */
export function tufTrustRoot(options: TufTrustOptions): TrustRoot {
  const now = options.now ?? Date.now;
  let known: Known | null = null;
  let loading: Promise<Known> | null = null;

  async function current(): Promise<Known> {
    if (known && now() < known.until) return known;
    loading ??= load(options, now).finally(() => {
      loading = null;
    });
    known = await loading;
    return known;
  }

  return {
    async material() {
      const { outcome } = await current();
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    },
  };
}

async function load(options: TufTrustOptions, now: () => number): Promise<Known> {
  const { stateFile, source } = options;
  const kept = await readTrustState(stateFile, isUsable);
  const age = kept === null ? Number.POSITIVE_INFINITY : now() - kept.checkedAt;
  if (kept && age >= 0 && age < FRESH_MS)
    return { outcome: parseTrustRoot(kept.text), until: kept.checkedAt + FRESH_MS };
  const update = await updateTrustState(source, kept, now(), isUsable);
  if (!update.ok) return { outcome: fallBack(options, kept, update), until: now() + RETRY_MS };
  await keepTrustState(stateFile, update.state).catch((error: unknown) =>
    options.onWarning("the trust root for signatures cannot be kept", error),
  );
  return { outcome: parseTrustRoot(update.state.text), until: now() + FRESH_MS };
}

/** What was had before, else what came with this version, else why there is nothing. */
function fallBack(
  { source, onWarning }: TufTrustOptions,
  kept: TrustState | null,
  { failure, seed }: { failure: unknown; seed: string | null },
): TrustMaterial | AppError {
  const text = kept?.text ?? seed;
  if (text === null) return unavailableRoot(source, failure);
  const which = kept
    ? `the one of ${new Date(kept.checkedAt).toISOString()}`
    : "the one this version came with";
  onWarning(`the trust root for signatures cannot be brought up to date; ${which} is used`, failure);
  return parseTrustRoot(text);
}

/** Keys out of a trusted_root.json (Sigstore protobuf-specs); throws when a part that signatures need is missing. */
function parseTrustRoot(text: string): TrustMaterial {
  const root = TrustedRoot.fromJSON(JSON.parse(text));
  const material = toTrustMaterial(root);
  const { certificateAuthorities, ctlogs, tlogs } = material;
  if (certificateAuthorities.length === 0) throw new Error("it names no certificate authority");
  if (ctlogs.length === 0) throw new Error("it names no log of certificates");
  if (tlogs.length === 0) throw new Error("it names no log of signatures");
  return material;
}

function isUsable(text: string): boolean {
  try {
    parseTrustRoot(text);
    return true;
  } catch {
    return false;
  }
}

function unavailableRoot(source: TufSource, failure: unknown): AppError {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return new AppError(
    "upstream_unavailable",
    `the trust root for signatures cannot be had from ${source.url}: ${reason}`,
    {
      hint: `Let this machine reach ${source.url}, or set SOURCE_TRUST_ROOT to a trusted_root.json; until then nothing is built`,
      retryAfterSeconds: RETRY_MS / 1000,
      cause: failure,
    },
  );
}
