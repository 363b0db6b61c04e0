/** Microsoft's certificates for firmware that also has to start Windows, option ROMs or shim; public data. */
import data from "./data/well-known-certificates.json" with { type: "json" };
import type { SignatureEntry } from "./efi-signature-list.ts";

/** GUID under which Microsoft lists its certificates. */
export const MICROSOFT_OWNER = "77fa9abd-0359-4d32-bd60-28f4e78f784b";

/** The certificates that join one's own in a variable, in a fixed order. */
export function wellKnownEntries(variable: "KEK" | "db"): SignatureEntry[] {
  return data[variable].map((one) => ({
    owner: MICROSOFT_OWNER,
    certificate: Uint8Array.from(atob(one.der), (character) => character.charCodeAt(0)),
  }));
}
