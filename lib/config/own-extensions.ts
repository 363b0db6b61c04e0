/** What the variables of own extensions mean together. */
import { isIPv4 } from "node:net";
import { resolve } from "node:path";
import type { Settings } from "./schema.ts";
import type { Config } from "./types.ts";

/** True for an address that only this machine reaches. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

/**
 * Without a word of the operator only `npm start` that listens on this machine alone takes them from everyone: what is
 * brought here runs as root on machines, and a network is full of strangers.
 */
export function toOwnExtensions(
  settings: Settings,
  { workingFolder, embedded }: { workingFolder: string; embedded: boolean },
): Config["own"] {
  const adminToken = settings.ADMIN_TOKEN ?? null;
  const alone = embedded && isLoopback(settings.HOST);
  const usual = adminToken !== null ? "admin" : alone ? "everyone" : "off";
  const file = (name: string | undefined) => (name === undefined ? null : resolve(workingFolder, name));
  return {
    mode: settings.OWN_EXTENSIONS ?? usual,
    adminToken,
    declarations: file(settings.OWN_EXTENSIONS_FILE),
    authFile: file(settings.OWN_REGISTRY_AUTH_FILE),
    privateHosts: settings.OWN_PRIVATE_REGISTRIES ?? [],
    maxBytes: settings.OWN_EXTENSIONS_MAX_SIZE * 2 ** 20,
    maxCount: settings.OWN_EXTENSIONS_MAX_COUNT,
    maxTotalBytes: settings.OWN_EXTENSIONS_MAX_TOTAL * 2 ** 20,
  };
}
