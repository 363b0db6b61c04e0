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

/** Asks TUF when somebody needs the keys and those that are kept are old; nothing is asked before. */
export function tufTrustRoot(options: TufTrustOptions): TrustRoot {
  const now = options.now ?? Date.now;
  let current: { outcome: TrustMaterial | AppError; until: number } | null = null;
  let loading: Promise<TrustMaterial | AppError> | null = null;

  async function load(): Promise<TrustMaterial | AppError> {
    const { stateFile, source } = options;
    const kept = await readTrustState(stateFile, isUsable);
    const age = kept === null ? Number.POSITIVE_INFINITY : now() - kept.checkedAt;
    if (kept && age >= 0 && age < FRESH_MS) return settle(kept.text, kept.checkedAt + FRESH_MS);
    const update = await updateTrustState(source, kept, now(), isUsable);
    if (update.ok) {
      await keepTrustState(stateFile, update.state).catch((error: unknown) =>
        options.onWarning("the trust root for signatures cannot be kept", error),
      );
      return settle(update.state.text, now() + FRESH_MS);
    }
    return fallBack(kept, update);
  }

  function fallBack(
    kept: TrustState | null,
    { failure, seed }: { failure: unknown; seed: string | null },
  ): TrustMaterial | AppError {
    const text = kept?.text ?? seed;
    const until = now() + RETRY_MS;
    if (text === null) return settle(unavailableRoot(options.source, failure), until);
    const which = kept
      ? `the one of ${new Date(kept.checkedAt).toISOString()}`
      : "the one this version came with";
    options.onWarning(
      `the trust root for signatures cannot be brought up to date; ${which} is used`,
      failure,
    );
    return settle(text, until);
  }

  function settle(found: string | AppError, until: number): TrustMaterial | AppError {
    const outcome = typeof found === "string" ? parseTrustRoot(found) : found;
    current = { outcome, until };
    return outcome;
  }

  return {
    async material() {
      let outcome = current && now() < current.until ? current.outcome : null;
      if (outcome === null) {
        loading ??= load().finally(() => {
          loading = null;
        });
        outcome = await loading;
      }
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    },
  };
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
      hint: `let this machine reach ${source.url}, or set SOURCE_TRUST_ROOT to a trusted_root.json; until then nothing is built`,
      retryAfterSeconds: RETRY_MS / 1000,
      cause: failure,
    },
  );
}
