/** What the variables of own extensions mean together. */
import { resolve } from "node:path";
import type { Settings } from "./schema.ts";
import type { Config } from "./types.ts";

/** Without a word of the operator only `npm start`, which runs on somebody's own machine, takes them from everyone. */
export function toOwnExtensions(
  settings: Settings,
  { workingFolder, embedded }: { workingFolder: string; embedded: boolean },
): Config["own"] {
  const adminToken = settings.ADMIN_TOKEN ?? null;
  const usual = embedded ? "everyone" : adminToken === null ? "off" : "admin";
  const file = (name: string | undefined) => (name === undefined ? null : resolve(workingFolder, name));
  return {
    mode: settings.OWN_EXTENSIONS ?? usual,
    adminToken,
    declarations: file(settings.OWN_EXTENSIONS_FILE),
    authFile: file(settings.OWN_REGISTRY_AUTH_FILE),
    privateHosts: settings.OWN_PRIVATE_REGISTRIES ?? [],
    maxBytes: settings.OWN_EXTENSIONS_MAX_SIZE * 2 ** 20,
    maxCount: settings.OWN_EXTENSIONS_MAX_COUNT,
  };
}
