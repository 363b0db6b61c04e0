/** A fetch for addresses that people may choose: it does not connect to private ones, whatever a name leads to. */
import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { Agent, fetch as undiciFetch } from "undici";
import { AppError } from "../errors/app-error.ts";

export interface GuardOptions {
  /** Hosts that may be private: name or address, with the port unless it is the scheme's own. */
  allowed: readonly string[];
}

/** Public unicast addresses, also written as IPv6, are the only ones without permission. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === "unicast";
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Every address of the name must be public: the connection may take any of them. */
function publicLookup(host: string, options: LookupOptions, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || first === undefined) return found(error ?? notPublic(host), []);
    if (!addresses.every(({ address }) => isPublicAddress(address))) return found(notPublic(host), []);
    if (options.all === true) return found(null, addresses);
    return found(null, first.address, first.family);
  });
}

const guarded = new Agent({ connect: { lookup: publicLookup } });
const open = new Agent();

/** Gives a fetch that follows no redirect; forbidden naming the host when it is a private address or leads to one. */
export function guardedFetch({ allowed }: GuardOptions): typeof fetch {
  const permitted = new Set(allowed);
  const fetchIt: unknown = async (input: string | URL, init: Record<string, unknown> = {}) => {
    const { host, hostname } = new URL(input);
    const free = permitted.has(host);
    const literal = hostname.replace(/^\[|\]$/g, "");
    if (!free && ipaddr.isValid(literal) && !isPublicAddress(literal)) throw notPublic(host);
    try {
      return await undiciFetch(input, { ...init, redirect: "manual", dispatcher: free ? open : guarded });
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      throw cause instanceof AppError ? cause : error;
    }
  };
  return fetchIt as typeof fetch;
}

function notPublic(host: string): AppError {
  return new AppError("forbidden", `${host} is a private address`, {
    hint: "The operator can allow it with OWN_PRIVATE_REGISTRIES.",
    retryable: false,
  });
}
