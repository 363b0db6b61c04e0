/** The SecureBoot keys of this factory as the configuration says: none, from files, or made once. */
import type { Logger } from "pino";
import { ensureKeys, keyFilesIn } from "./create-keys.ts";
import { readSecureBootKeys } from "./read-keys.ts";
import type { KeyFiles, SecureBootKeys } from "./types.ts";

export type KeySource =
  | { kind: "off" }
  | ({ kind: "files" } & KeyFiles)
  | { kind: "created"; folder: string };

/** Where the keys are, null when SecureBoot is off. */
export function keyFilesOf(source: KeySource): KeyFiles | null {
  if (source.kind === "off") return null;
  return source.kind === "files" ? source : keyFilesIn(source.folder);
}

/** Null when SecureBoot is off. Rejects with invalid_input when the keys do not belong together. */
export async function openSecureBootKeys(source: KeySource, log: Logger): Promise<SecureBootKeys | null> {
  if (source.kind === "off") return null;
  if (source.kind === "files") return await readSecureBootKeys(source);
  if (await ensureKeys(source.folder, new Date())) {
    log.warn(
      { folder: source.folder },
      "SecureBoot keys were made; keep a copy of the folder: machines that enrolled them start nothing else",
    );
  }
  return await readSecureBootKeys(keyFilesIn(source.folder));
}
