/** The read half of the OCI distribution-spec 1.1: tags, manifests and blobs of one registry. */
import { digestOf, isDigest } from "../domain/digest.ts";
import { AppError, invalidInput, notFound } from "../errors/app-error.ts";
import { createAuthenticator } from "./auth.ts";
import { ACCEPT_MANIFESTS, toResolvedManifest } from "./manifest.ts";
import { isRepository, isTag } from "./reference.ts";
import { type RegistryResponse, readWhole } from "./response-body.ts";
import { type Clock, DEFAULT_RETRY, type RetryPolicy, systemClock, unavailable } from "./retry.ts";
import { nextPageQuery, parseTagPage } from "./tag-page.ts";
import { createTransport } from "./transport.ts";
import type { ResolvedManifest } from "./types.ts";

export interface RegistryClientOptions {
  /** Base address with scheme and optional path prefix: "https://ghcr.io", "http://mirror:5000/ghcr". */
  registry: string;
  username?: string | null;
  password?: string | null;
  /** Where people set these two, for hints. */
  credentialSettings?: string;
  retry?: RetryPolicy;
  clock?: Clock;
  headersTimeoutMs?: number;
  idleTimeoutMs?: number;
  fetch?: typeof fetch;
}

export interface RegistryClient {
  /** Address of the registry for messages. */
  name: string;
  /** All tags in the registry's order; not_found when the repository does not exist. */
  tags(repository: string, signal?: AbortSignal): Promise<string[]>;
  /** Digest of a tag or digest; null when there is no such manifest. */
  headManifest(repository: string, reference: string, signal?: AbortSignal): Promise<string | null>;
  /** Manifest of a tag or digest, its bytes checked against the digest; null when there is none. */
  getManifest(repository: string, reference: string, signal?: AbortSignal): Promise<ResolvedManifest | null>;
  /** Answer to HEAD of a blob, without body: any status that is an answer. */
  headBlob(repository: string, digest: string, signal?: AbortSignal): Promise<RegistryResponse>;
  /** Answer for the referrers of a digest: any status that is an answer. */
  openReferrers(repository: string, digest: string, signal?: AbortSignal): Promise<RegistryResponse>;
  /** Answer for a blob from `offset` on: 206, 200 (whole blob again) or 416; not_found when there is no such blob. */
  openBlob(
    repository: string,
    digest: string,
    offset: number,
    signal?: AbortSignal,
  ): Promise<RegistryResponse>;
}

/** The largest manifest that is read; the distribution-spec asks registries to take at least half of it. */
export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;
const MAX_TAG_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_TAG_PAGES = 1000;
/** They are held in memory; large public repositories have some ten thousand. */
const MAX_TAGS = 100_000;
const TAGS_PER_PAGE = "1000";
const USER_AGENT = "casthouse";

/** A client of one registry. Reads only; every failure is an AppError that names the image. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const ask = createAsk(options);
  return {
    name: options.registry,
    tags: (repository, signal) => listTags(ask, options.registry, repository, signal),
    headManifest: (repository, reference, signal) => headManifest(ask, repository, reference, signal),
    getManifest: (repository, reference, signal) => getManifest(ask, repository, reference, signal),
    headBlob: (repository, digest, signal) => askDigest(ask, "HEAD", "blobs", { repository, digest, signal }),
    openReferrers: (repository, digest, signal) =>
      askDigest(ask, "GET", "referrers", { repository, digest, signal }),
    openBlob: (repository, digest, offset, signal) =>
      openBlob(ask, options.registry, { repository, digest, offset, signal }),
  };
}

interface Question {
  method: "GET" | "HEAD";
  repository: string;
  /** Below the repository: "manifests/v1.13.2". */
  path: string;
  what: string;
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
}

type Ask = (question: Question) => Promise<RegistryResponse>;

function createAsk(options: RegistryClientOptions): Ask {
  const { origin, prefix } = parseBase(options.registry);
  const connection = {
    origin,
    credentialSettings: options.credentialSettings ?? "SOURCE_USERNAME and SOURCE_PASSWORD",
    fetch: options.fetch ?? fetch,
    clock: options.clock ?? systemClock,
    retry: options.retry ?? DEFAULT_RETRY,
    headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
    userAgent: USER_AGENT,
  };
  const authenticator = createAuthenticator({
    ...connection,
    timeoutMs: connection.headersTimeoutMs,
    username: options.username ?? null,
    password: options.password ?? null,
  });
  const send = createTransport({ ...connection, authenticator });
  return async ({ repository, path, ...rest }) => {
    if (!isRepository(repository))
      throw invalidInput(`${JSON.stringify(repository)} is not a repository path`);
    const full = prefix === "" ? repository : `${prefix}/${repository}`;
    return send({ ...rest, address: new URL(`${origin}/v2/${full}/${path}`), repository: full });
  };
}

async function askManifest(
  ask: Ask,
  method: "GET" | "HEAD",
  repository: string,
  reference: string,
  signal: AbortSignal | undefined,
): Promise<RegistryResponse> {
  if (!isDigest(reference) && !isTag(reference)) {
    throw invalidInput(`${JSON.stringify(reference)} is not a tag or digest`);
  }
  const what = imageName(repository, reference);
  const headers = { accept: ACCEPT_MANIFESTS };
  return ask({ method, repository, path: `manifests/${reference}`, what, headers, signal });
}

async function headManifest(
  ask: Ask,
  repository: string,
  reference: string,
  signal: AbortSignal | undefined,
) {
  const response = await askManifest(ask, "HEAD", repository, reference, signal);
  await response.discard();
  if (response.status === 404) return null;
  const digest = response.headers.get("docker-content-digest");
  if (response.status === 200 && digest !== null && isDigest(digest)) return digest;
  // Registries that do not know HEAD, or do not say the digest: the bytes tell it.
  return (await getManifest(ask, repository, reference, signal))?.digest ?? null;
}

async function getManifest(ask: Ask, repository: string, reference: string, signal: AbortSignal | undefined) {
  const what = imageName(repository, reference);
  const response = await askManifest(ask, "GET", repository, reference, signal);
  if (response.status !== 200) {
    await response.discard();
    if (response.status === 404) return null;
    throw unavailable(what, `the registry answers ${response.status}`);
  }
  const bytes = await readWhole(response, `the manifest of ${what}`, MAX_MANIFEST_BYTES);
  const promised = isDigest(reference) ? reference : response.headers.get("docker-content-digest");
  const actual = digestOf(bytes);
  if (promised !== null && isDigest(promised) && promised !== actual) {
    throw wrongBytes(`the manifest of ${what}`, promised, actual);
  }
  return toResolvedManifest(what, bytes, response.headers.get("content-type"));
}

async function listTags(ask: Ask, registry: string, repository: string, signal: AbortSignal | undefined) {
  const what = `the tags of ${repository}`;
  const headers = { accept: "application/json" };
  const tags = new Set<string>();
  let query: string | null = `n=${TAGS_PER_PAGE}`;
  for (let pages = 0; query !== null; pages += 1) {
    if (pages >= MAX_TAG_PAGES) throw unavailable(what, `the list has more than ${MAX_TAG_PAGES} pages`);
    const path: string = `tags/list?${query}`;
    const response = await ask({ method: "GET", repository, path, what, headers, signal });
    if (response.status !== 200) {
      await response.discard();
      if (response.status === 404) throw notFound(`${repository} does not exist in ${registry}`);
      throw unavailable(what, `the registry answers ${response.status}`);
    }
    const page = await readWhole(response, what, MAX_TAG_PAGE_BYTES);
    for (const tag of parseTagPage(what, page)) tags.add(tag);
    if (tags.size > MAX_TAGS) throw unavailable(what, `the list has more than ${MAX_TAGS} tags`);
    const next = nextPageQuery(response.headers.get("link"));
    if (next === query) throw unavailable(what, "the next page of the list is the same page");
    query = next;
  }
  return [...tags];
}

async function askDigest(
  ask: Ask,
  method: "GET" | "HEAD",
  resource: "blobs" | "referrers",
  { repository, digest, signal }: { repository: string; digest: string; signal: AbortSignal | undefined },
): Promise<RegistryResponse> {
  if (!isDigest(digest)) throw invalidInput(`${JSON.stringify(digest)} is not a SHA-256 digest`);
  const what = imageName(repository, digest);
  return ask({ method, repository, path: `${resource}/${digest}`, what, headers: {}, signal });
}

async function openBlob(
  ask: Ask,
  registry: string,
  blob: { repository: string; digest: string; offset: number; signal: AbortSignal | undefined },
): Promise<RegistryResponse> {
  const { repository, digest, offset, signal } = blob;
  if (!isDigest(digest)) throw invalidInput(`${JSON.stringify(digest)} is not a SHA-256 digest`);
  const what = imageName(repository, digest);
  const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const response = await ask({ method: "GET", repository, path: `blobs/${digest}`, what, headers, signal });
  if ([200, 206, 416].includes(response.status)) return response;
  await response.discard();
  if (response.status === 404) throw notFound(`the blob ${what} does not exist in ${registry}`);
  throw unavailable(what, `the registry answers ${response.status}`);
}

/** "siderolabs/imager:v1.13.2" or "siderolabs/imager@sha256:...". */
export function imageName(repository: string, reference: string): string {
  return `${repository}${isDigest(reference) ? "@" : ":"}${reference}`;
}

/** source_invalid: what came does not have the digest that was asked for. */
export function wrongBytes(what: string, expected: string, actual: string): AppError {
  const came = `what came has digest ${actual} instead of ${expected}`;
  return new AppError("source_invalid", `cannot fetch ${what}: ${came}`, {
    hint: "The registry, or a cache between, holds damaged or exchanged bytes",
  });
}

/** Origin and path prefix of a base address. A leading "/v2" is dropped: it is always put in front of the prefix. */
export function parseBase(registry: string): { origin: string; prefix: string } {
  const url = URL.canParse(registry) ? new URL(registry) : null;
  const prefix = (url?.pathname ?? "").replace(/^\/+|\/+$/g, "").replace(/^v2(?:\/|$)/, "");
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (!plain || (prefix !== "" && !isRepository(prefix))) {
    throw invalidInput(`${JSON.stringify(registry)} is not a registry address`, {
      hint: "Write it as https://host[:port][/prefix]; credentials go into variables of their own",
    });
  }
  return { origin: url.origin, prefix };
}
