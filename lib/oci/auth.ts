/** Credentials of one registry: answers its challenges by Basic or by a token, and keeps tokens until they expire. */
import { AppError } from "../errors/app-error.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import {
  type Attempt,
  type Clock,
  isRetryableStatus,
  parseRetryAfter,
  type RetryPolicy,
  retrying,
} from "./retry.ts";
import { SingleFlight } from "./single-flight.ts";

export interface AuthenticatorOptions {
  /** Origin of the registry, for example https://ghcr.io. */
  origin: string;
  username: string | null;
  password: string | null;
  /** Where people set these two, for hints: "SOURCE_USERNAME and SOURCE_PASSWORD". */
  credentialSettings: string;
  fetch: typeof fetch;
  clock: Clock;
  retry: RetryPolicy;
  timeoutMs: number;
  userAgent: string;
}

export interface Authenticator {
  /** Value of Authorization for a request about this repository, when a challenge was answered before. */
  known(repository: string, signal?: AbortSignal): Promise<string | null>;
  /**
   * Answers a 401 of the registry itself. `refused` is the Authorization that was sent; such a token is thrown away.
   * Null when there is nothing better to send. upstream_unavailable when the token service refuses or is away.
   */
  answer(
    repository: string,
    header: string,
    refused: string | null,
    signal?: AbortSignal,
  ): Promise<string | null>;
}

interface Token {
  authorization: string;
  /** Milliseconds since the epoch after which it is not used any more. */
  usableUntil: number;
}

/** The lifetime that the token protocol assumes when expires_in is absent. */
const DEFAULT_LIFETIME_SECONDS = 60;
const MAX_TOKEN_BYTES = 256 * 1024;

/** One authenticator per registry; it holds tokens in memory only. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const challenges = new Map<string, Challenge>();
  const tokens = new Map<string, Token>();
  const flights = new SingleFlight<Token>();
  const basic =
    options.username === null
      ? null
      : `Basic ${Buffer.from(`${options.username}:${options.password ?? ""}`).toString("base64")}`;

  async function authorizationFor(repository: string, challenge: Challenge, signal?: AbortSignal) {
    if (challenge.scheme === "basic") return basic;
    const address = tokenAddress(options.origin, challenge, repository);
    const kept = tokens.get(address.href);
    if (kept && kept.usableUntil > options.clock.now()) return kept.authorization;
    const token = await flights.join(
      address.href,
      (shared) => fetchToken(options, address, basic, repository, shared),
      { signal },
    );
    tokens.set(address.href, token);
    return token.authorization;
  }

  return {
    async known(repository, signal) {
      const challenge = challenges.get(repository);
      return challenge ? authorizationFor(repository, challenge, signal) : null;
    },
    async answer(repository, header, refused, signal) {
      const offered = parseChallenges(header);
      const challenge =
        offered.find((one) => one.scheme === "bearer" && one.parameters.realm !== undefined) ??
        offered.find((one) => one.scheme === "basic");
      if (!challenge) return null;
      challenges.set(repository, challenge);
      if (challenge.scheme === "bearer") {
        const { href } = tokenAddress(options.origin, challenge, repository);
        if (refused !== null && tokens.get(href)?.authorization === refused) tokens.delete(href);
      }
      const authorization = await authorizationFor(repository, challenge, signal);
      return authorization === refused ? null : authorization;
    },
  };
}

/** Where a token is asked for. The realm must be https, or plain http when the registry itself is plain http. */
function tokenAddress(origin: string, challenge: Challenge, repository: string): URL {
  const realm = challenge.parameters.realm ?? "";
  const address = URL.canParse(realm, origin) ? new URL(realm, origin) : null;
  const plainAllowed = origin.startsWith("http:");
  if (!address || !(address.protocol === "https:" || (plainAllowed && address.protocol === "http:"))) {
    throw new AppError(
      "upstream_unavailable",
      `cannot fetch a token: ${origin} names an unusable token service`,
      {
        hint: "An https registry must name an https token service",
        retryable: false,
      },
    );
  }
  address.username = "";
  address.password = "";
  if (challenge.parameters.service !== undefined)
    address.searchParams.set("service", challenge.parameters.service);
  address.searchParams.set("scope", challenge.parameters.scope ?? `repository:${repository}:pull`);
  return address;
}

async function fetchToken(
  options: AuthenticatorOptions,
  address: URL,
  basic: string | null,
  repository: string,
  signal: AbortSignal,
): Promise<Token> {
  const what = `a token for ${repository} from ${address.origin}`;
  return retrying(what, options.retry, options.clock, signal, async (): Promise<Attempt<Token>> => {
    const startedAt = options.clock.now();
    let response: Response;
    try {
      response = await options.fetch(address, {
        headers: {
          accept: "application/json",
          "user-agent": options.userAgent,
          ...(basic === null ? {} : { authorization: basic }),
        },
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
      });
    } catch (cause) {
      return { ok: false, reason: "the token service cannot be reached", cause };
    }
    if (isRetryableStatus(response.status)) {
      await response.body?.cancel();
      const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), startedAt);
      const reason = `the token service answers ${response.status}`;
      return { ok: false, reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw refusedToken(what, response.status, basic !== null, options.credentialSettings);
    }
    const text = await readText(response).catch((cause: unknown) => ({ cause }));
    if (typeof text !== "string")
      return { ok: false, reason: "the answer of the token service broke off", cause: text.cause };
    return { ok: true, value: parseToken(what, text, startedAt) };
  });
}

/** The body as text, counted while it arrives; empty when it is larger than an answer with a token can be. */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength;
    if (size > MAX_TOKEN_BYTES) {
      await reader.cancel();
      return "";
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts, size).toString("utf8");
}

function parseToken(what: string, text: string, startedAt: number): Token {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  const fields: { token?: unknown; access_token?: unknown; expires_in?: unknown } =
    typeof body === "object" && body !== null ? body : {};
  const value = [fields.token, fields.access_token].find((one) => typeof one === "string" && one !== "");
  if (typeof value !== "string") {
    throw new AppError("upstream_unavailable", `cannot fetch ${what}: the answer holds no token`);
  }
  const seconds =
    typeof fields.expires_in === "number" && fields.expires_in > 0
      ? fields.expires_in
      : DEFAULT_LIFETIME_SECONDS;
  // A fifth of the lifetime, at most ten seconds, is kept back so that a token does not expire on its way.
  const marginMs = Math.min(10_000, seconds * 200);
  return { authorization: `Bearer ${value}`, usableUntil: startedAt + seconds * 1000 - marginMs };
}

function refusedToken(what: string, status: number, withCredentials: boolean, settings: string): AppError {
  return new AppError("upstream_unavailable", `cannot fetch ${what}: the token service answers ${status}`, {
    hint: withCredentials
      ? `Check ${settings}, and that this account may use the repository`
      : `The repository is not public or does not exist; set ${settings} if it is private`,
    retryable: false,
  });
}
