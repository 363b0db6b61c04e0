/** Looks into an image for a page: at once when it was read before, for a few seconds when it is asked for. */
import type { Inside } from "../../components/catalog/image-inside.tsx";
import type { Arch } from "../../lib/domain/asset.ts";
import type { EntryVersion } from "../../lib/domain/catalog/catalog-index.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import type { CatalogService } from "../../lib/services/catalog/contracts.ts";

/** A page waits this long for an image before it says that it is being read. */
const READ_PATIENCE_MS = 6_000;
/** The size alone is worth less of a wait. */
const SIZE_PATIENCE_MS = 1_500;

/** What the work gives, or null when it takes longer; the work goes on. */
async function within<T>(work: Promise<T>, patienceMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `wanted`: somebody asked to have the image read. Failures of the source are part of the answer. */
export async function lookInside(
  catalog: CatalogService,
  image: EntryVersion,
  arch: Arch,
  wanted: boolean,
): Promise<Inside> {
  const kept = await catalog.findContents(image, arch);
  if (kept !== null) return { state: "read", contents: kept };
  try {
    if (!wanted) {
      const transferBytes = await within(catalog.transferBytes(image, arch), SIZE_PATIENCE_MS);
      return { state: "closed", transferBytes };
    }
    const contents = await within(catalog.readContents(image, arch), READ_PATIENCE_MS);
    return contents === null ? { state: "reading" } : { state: "read", contents };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { state: "failed", reason: error.message };
  }
}
