/** Image references and digests: "[registry/]repository[:tag][@digest]", after the OCI distribution-spec grammar. */
import { isDigest } from "../domain/digest.ts";
import { invalidInput } from "../errors/app-error.ts";

export interface ImageReference {
  /** Host and optional port; null when the reference names none. */
  registry: string | null;
  /** Path below the registry, for example "siderolabs/gvisor". */
  repository: string;
  tag: string | null;
  /** sha256:<hex>. */
  digest: string | null;
}

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const REGISTRY = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const MAX_REPOSITORY = 255;

/** Splits a reference; invalid_input naming the text when it does not follow the grammar. */
export function parseReference(text: string): ImageReference {
  const at = text.indexOf("@");
  const digest = at < 0 ? null : text.slice(at + 1);
  const named = at < 0 ? text : text.slice(0, at);
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  const tag = hasTag ? named.slice(colon + 1) : null;
  const path = hasTag ? named.slice(0, colon) : named;
  const slash = path.indexOf("/");
  const first = slash < 0 ? "" : path.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost";
  const registry = isHost ? first : null;
  const repository = isHost ? path.slice(slash + 1) : path;
  if (registry !== null && !REGISTRY.test(registry)) throw malformed(text, "registry");
  if (!isRepository(repository)) throw malformed(text, "repository");
  if (tag !== null && !isTag(tag)) throw malformed(text, "tag");
  if (digest !== null && !isDigest(digest)) throw malformed(text, "digest");
  return { registry, repository, tag, digest };
}

/** True for a repository path that may stand in a registry address. */
export function isRepository(text: string): boolean {
  return text.length <= MAX_REPOSITORY && REPOSITORY.test(text);
}

/** True for a tag that may stand in a registry address. */
export function isTag(text: string): boolean {
  return TAG.test(text);
}

function malformed(text: string, part: string) {
  return invalidInput(`${JSON.stringify(text.slice(0, 300))} is not an image reference: bad ${part}`);
}
