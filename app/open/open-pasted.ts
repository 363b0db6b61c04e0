/** From what somebody pasted to the address of the form that shows it, or the reason why there is none. */
import { findBoardByOverlay } from "../../lib/domain/boards.ts";
import { openPath } from "../../lib/domain/form/form-of-schematic.ts";
import { type PastedTarget, readPasted } from "../../lib/domain/form/open-reference.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import type { Services, StoredSchematic } from "../../lib/services/contracts.ts";
import { newestOf, offeredVersions } from "../form-offer.ts";

export type Opening =
  | { kind: "found"; path: string }
  /** about: the ID that nobody knows, or what the decoder says. */
  | { kind: "unknown" | "talosctl" | "missing" | "yaml"; about: string };

async function pathOf(services: Services, stored: StoredSchematic, target: PastedTarget): Promise<string> {
  const newest = newestOf(await offeredVersions(services));
  const board = stored.schematic.overlay && findBoardByOverlay(stored.schematic.overlay);
  const {
    version = newest,
    platform = "metal",
    arch = board ? "arm64" : "amd64",
    secureboot = false,
  } = target;
  return openPath(stored, { version, platform, arch, secureboot });
}

/**
 * Looks up what a text names, for the machine it names, else for `beside`. YAML is stored, so that the address holds its
 * ID and never its words.
 */
export async function openPasted(
  services: Services,
  text: string,
  beside: PastedTarget = {},
): Promise<Opening> {
  const pasted = readPasted(text);
  switch (pasted.kind) {
    case "form":
      return { kind: "found", path: `/?${pasted.query}` };
    case "schematic": {
      const stored = await services.schematics.find(pasted.id);
      if (stored === null) return { kind: "missing", about: pasted.id };
      return { kind: "found", path: await pathOf(services, stored, { ...beside, ...pasted.target }) };
    }
    case "yaml":
      try {
        const stored = await services.schematics.create(pasted.text);
        return { kind: "found", path: await pathOf(services, stored, beside) };
      } catch (error) {
        if (isAppError(error) && error.status < 500) return { kind: "yaml", about: error.message };
        throw error;
      }
    default:
      return { kind: pasted.kind, about: "" };
  }
}
