/** What the snippets of a result page may mention. */
import { findBoardByOverlay } from "../../../lib/domain/boards.ts";
import { resolveBootloader } from "../../../lib/domain/boot-rules.ts";
import { fileStem } from "../../../lib/domain/snippets/addresses.ts";
import type { SnippetContext } from "../../../lib/domain/snippets/types.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import type { PageContext } from "../../../lib/services/current.ts";
import type { Result } from "./result-target.ts";

/** The kernel command line; null where the platform has none or SecureBoot is off here. */
async function findCmdline({ assets }: PageContext["services"], result: Result): Promise<string | null> {
  const { stored, release, target } = result;
  try {
    const path = `cmdline-${fileStem(target, target.platform)}`;
    const asset = await assets.resolve({ schematicId: stored.id, version: release.version, path });
    const bytes = assets.inline(asset);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

export async function snippetContext(page: PageContext, result: Result): Promise<SnippetContext> {
  const { stored, release, target } = result;
  const { overlay, customization } = stored.schematic;
  return {
    publicUrl: page.publicUrl,
    pxeUrl: page.pxeUrl,
    schematicId: stored.id,
    version: release.version,
    platform: target.platform,
    arch: target.arch,
    secureboot: target.secureboot,
    board: overlay ? { overlay: overlay.name, name: findBoardByOverlay(overlay)?.name ?? null } : null,
    extensions: customization.systemExtensions?.officialExtensions ?? [],
    bootloader: resolveBootloader(target, customization.bootloader ?? null),
    cmdline: await findCmdline(page.services, result),
  };
}
