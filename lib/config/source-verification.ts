/** Which signatures the images of the source have to carry, chosen or by default. */
import { isIPv4 } from "node:net";
import { resolve } from "node:path";
import type { Settings } from "./schema.ts";
import type { Config } from "./types.ts";

/** Without SOURCE_VERIFY: keyless, but for a registry on this machine, which is trusted as the machine is. */
export function verificationKind(settings: Settings): NonNullable<Settings["SOURCE_VERIFY"]> {
  const { SOURCE_VERIFY: chosen, SOURCE_REGISTRY: registry } = settings;
  return chosen ?? { kind: isOnThisMachine(registry) ? "off" : "keyless" };
}

/** The choice with all that belongs to it; files are absolute. */
export function toVerification(settings: Settings, workingFolder: string): Config["source"]["verify"] {
  const choice = verificationKind(settings);
  if (choice.kind === "off") return choice;
  if (choice.kind === "key") return { kind: "key", file: resolve(workingFolder, choice.file) };
  const file = settings.SOURCE_TRUST_ROOT;
  return {
    kind: "keyless",
    identity: settings.SOURCE_VERIFY_IDENTITY,
    issuer: settings.SOURCE_VERIFY_ISSUER,
    trustRoot: file === undefined ? null : resolve(workingFolder, file),
  };
}

/** True for loopback addresses: 127.0.0.0/8, ::1 (RFC 5735, RFC 4291) and localhost with all below it (RFC 6761). */
function isOnThisMachine(address: string): boolean {
  const { hostname } = new URL(address);
  if (isIPv4(hostname)) return hostname.startsWith("127.");
  return /^\[::1\]$|^(.+\.)?localhost$/.test(hostname);
}
