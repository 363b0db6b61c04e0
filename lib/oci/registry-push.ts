/** The write half of the OCI distribution-spec 1.1: blobs and manifests into one registry. */
import { Readable } from "node:stream";
import { AppError, invalidInput } from "../errors/app-error.ts";
import { type Authenticator, createAuthenticator } from "./auth.ts";
import { ACCEPT_MANIFESTS } from "./manifest.ts";
import { isRepository } from "./reference.ts";
import { imageName, parseBase } from "./registry-client.ts";
import { DEFAULT_RETRY, systemClock } from "./retry.ts";
import { webStream } from "./web-stream.ts";

export interface RegistryPushOptions {
  /** Base address with scheme and optional path prefix. */
  registry: string;
  username: string | null;
  password: string | null;
}

export interface NewBlob {
  digest: string;
  sizeBytes: number;
  open: () => Promise<Readable>;
}

/** What a registry says about a manifest or blob: "hidden" wants other credentials, "unknown" is any other answer. */
export type Presence =
  | { state: "present"; digest: string | null }
  | { state: "absent" }
  | { state: "hidden" }
  | { state: "unknown"; reason: string };

export interface RegistryPush {
  /** Address of the registry for messages. */
  name: string;
  /** Where anybody finds the resource. */
  address(repository: string, resource: "manifests" | "blobs", reference: string): string;
  /** One question without retries; never throws. `anonymous` asks as clients without credentials do. */
  look(
    repository: string,
    resource: "manifests" | "blobs",
    reference: string,
    anonymous: boolean,
  ): Promise<Presence>;
  /** Uploads the blob in one piece, or mounts it from another repository that has it. */
  putBlob(repository: string, blob: NewBlob, from: string | null, signal: AbortSignal): Promise<void>;
  /** Gives whether the registry takes note of the manifest's subject (its referrers API lists the manifest). */
  putManifest(
    repository: string,
    reference: string,
    manifest: { mediaType: string; bytes: Uint8Array },
    signal: AbortSignal,
  ): Promise<{ listsSubject: boolean }>;
}

interface Target {
  origin: string;
  prefix: string;
  authenticator: Authenticator;
}

const USER_AGENT = "casthouse";
const CREDENTIAL_SETTINGS = "INSTALLER_REGISTRY_USERNAME and INSTALLER_REGISTRY_PASSWORD";
const LOOK_MS = 3_000;
/** Until the registry has taken a request in, its body included. */
const WRITE_MS = 15 * 60_000;

/** A client that writes; invalid_input for an address that is none. */
export function createRegistryPush(options: RegistryPushOptions): RegistryPush {
  const { origin, prefix } = parseBase(options.registry);
  const authenticator = createAuthenticator({
    ...{ origin, username: options.username, password: options.password },
    credentialSettings: CREDENTIAL_SETTINGS,
    ...{ fetch, clock: systemClock, retry: DEFAULT_RETRY, timeoutMs: 30_000, userAgent: USER_AGENT },
  });
  const target = { origin, prefix, authenticator };
  return {
    name: options.registry,
    address: (repository, resource, reference) =>
      addressOf(target, repository, `${resource}/${reference}`).href,
    look: (repository, resource, reference, anonymous) =>
      look(target, repository, `${resource}/${reference}`, anonymous),
    putBlob: (repository, blob, from, signal) => putBlob(target, repository, blob, from, signal),
    async putManifest(repository, reference, { mediaType, bytes }, signal) {
      const what = imageName(repository, reference);
      const answer = await write(target, repository, what, signal, () => ({
        method: "PUT",
        address: addressOf(target, repository, `manifests/${reference}`),
        headers: { "content-type": mediaType },
        body: Buffer.from(bytes),
      }));
      if (answer.status !== 201) throw refusal(what, answer.status);
      return { listsSubject: answer.headers.get("oci-subject") !== null };
    },
  };
}

const fullName = ({ prefix }: Target, repository: string): string =>
  prefix === "" ? repository : `${prefix}/${repository}`;

function addressOf(target: Target, repository: string, path: string): URL {
  if (!isRepository(repository)) throw invalidInput(`${JSON.stringify(repository)} is not a repository path`);
  return new URL(`${target.origin}/v2/${fullName(target, repository)}/${path}`);
}

async function look(target: Target, repository: string, path: string, anonymous: boolean): Promise<Presence> {
  try {
    const address = addressOf(target, repository, path);
    const ask = (authorization: string | null) =>
      fetch(address, {
        method: "HEAD",
        redirect: "manual",
        headers: headersWith(authorization, { accept: ACCEPT_MANIFESTS }),
        signal: AbortSignal.timeout(LOOK_MS),
      });
    const name = fullName(target, repository);
    let answer = await ask(anonymous ? null : await target.authenticator.known(name));
    if (answer.status === 401 && !anonymous) {
      const challenge = answer.headers.get("www-authenticate") ?? "";
      const authorization = await target.authenticator.answer(name, challenge, null);
      if (authorization !== null) answer = await ask(authorization);
    }
    // A registry that keeps its blobs elsewhere sends clients on.
    const present = answer.status === 200 || answer.status === 307 || answer.status === 302;
    if (present) return { state: "present", digest: answer.headers.get("docker-content-digest") };
    if (answer.status === 404) return { state: "absent" };
    if (answer.status === 401 || answer.status === 403) return { state: "hidden" };
    return { state: "unknown", reason: `it answers ${answer.status}` };
  } catch (error) {
    return { state: "unknown", reason: error instanceof Error ? error.message : String(error) };
  }
}

async function putBlob(
  target: Target,
  repository: string,
  blob: NewBlob,
  from: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { digest, sizeBytes } = blob;
  const what = imageName(repository, digest);
  const mount =
    from === null ? "" : `?${new URLSearchParams({ mount: digest, from: fullName(target, from) })}`;
  const opened = await write(target, repository, what, signal, () => ({
    method: "POST",
    address: addressOf(target, repository, `blobs/uploads/${mount}`),
    headers: { "content-length": "0" },
  }));
  if (opened.status === 201) return;
  const location = opened.headers.get("location");
  if (opened.status !== 202 || location === null) throw refusal(what, opened.status);
  const address = new URL(location, target.origin);
  address.searchParams.set("digest", digest);
  const body = await blob.open();
  const answer = await write(target, repository, what, signal, () => ({
    method: "PUT",
    address,
    headers: { "content-type": "application/octet-stream", "content-length": String(sizeBytes) },
    body,
  }));
  if (answer.status !== 201) throw refusal(what, answer.status);
}

interface Write {
  method: "POST" | "PUT";
  address: URL;
  headers: Record<string, string>;
  body?: Buffer | Readable;
}

/** Sends once, and once more when the registry asks for credentials first. A stream cannot be sent twice. */
async function write(
  { origin, prefix, authenticator }: Target,
  repository: string,
  what: string,
  signal: AbortSignal,
  request: () => Write,
): Promise<Response> {
  const name = prefix === "" ? repository : `${prefix}/${repository}`;
  let authorization = await authenticator.known(name, signal);
  for (let round = 1; ; round += 1) {
    const { method, address, headers, body } = request();
    const answer = await fetch(address, {
      ...{ method, redirect: "manual" },
      // Where an upload goes may be another host, which has no business with the credentials.
      headers: headersWith(address.origin === origin ? authorization : null, headers),
      signal: AbortSignal.any([signal, AbortSignal.timeout(WRITE_MS)]),
      ...(body === undefined ? {} : bodyOf(body)),
    }).catch((cause: unknown) => {
      throw unreachable(what, cause);
    });
    await answer.body?.cancel();
    if (answer.status !== 401 || round === 2 || body instanceof Readable) return answer;
    const challenge = answer.headers.get("www-authenticate") ?? "";
    const next = await authenticator.answer(name, challenge, authorization, signal);
    if (next === null) return answer;
    authorization = next;
  }
}

const headersWith = (authorization: string | null, headers: Record<string, string>) => ({
  ...headers,
  "user-agent": USER_AGENT,
  ...(authorization === null ? {} : { authorization }),
});

const bodyOf = (body: Buffer | Readable) =>
  body instanceof Readable ? { body: webStream(body), duplex: "half" } : { body: new Uint8Array(body) };

const refusal = (what: string, status: number) =>
  new AppError("upstream_unavailable", `cannot push ${what}: the registry answers ${status}`, {
    hint:
      status === 401 || status === 403
        ? `Check ${CREDENTIAL_SETTINGS}, and that this account may write`
        : "Check INSTALLER_REGISTRY and the log of that registry",
  });

const unreachable = (what: string, cause: unknown) =>
  new AppError("upstream_unavailable", `cannot push ${what}: the registry cannot be reached`, {
    hint: "Check INSTALLER_REGISTRY",
    cause,
  });
