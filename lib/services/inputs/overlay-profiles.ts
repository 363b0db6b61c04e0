/** What board overlays ask of a disk image: their own profile, read from the overlay's image and kept by digest. */
import { lstat, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { parseDocument } from "yaml";
import { z } from "zod";
import type { Bootloader } from "../../domain/recipe-types.ts";
import type { CatalogOverlay } from "../../domain/release.ts";
import { AppError } from "../../errors/app-error.ts";
import type { SourceImages } from "../../oci/types.ts";
import { archHere } from "./host-arch.ts";

/** The part of a profile that counts; docs/overlays.md says what is left out and why. */
export interface OverlayProfile {
  image: { bootloader?: Bootloader; sectorSize?: number };
  iso: { bootloader?: Bootloader };
}

export interface OverlayProfiles {
  /** The profile that carries the overlay's name; an empty one when it has none. source_invalid when it is unreadable. */
  read(overlay: CatalogOverlay): Promise<OverlayProfile>;
}

const ENTRIES = 500;
const MOST_BYTES = 64 * 1024;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** "none" is how the public profiles spell "not set". */
const bootloader = z.enum(["grub", "dual-boot", "sd-boot", "none"]).nullish();
const profileSchema = z.object({
  output: z
    .object({
      imageOptions: z.object({ bootloader, diskSectorSize: z.int().min(0).nullish() }).nullish(),
      isoOptions: z.object({ bootloader }).nullish(),
    })
    .nullish(),
});

/** Profiles of overlays, read once per digest and name by each process; a failure is tried again. */
export function createOverlayProfiles(images: Pick<SourceImages, "extract">): OverlayProfiles {
  const known = new LRUCache<string, Promise<OverlayProfile>>({ max: ENTRIES });
  return {
    read(overlay) {
      const key = `${overlay.digest}/${overlay.name}`;
      const reading =
        known.get(key) ??
        readProfile(images, overlay).catch((error: unknown) => {
          known.delete(key);
          throw error;
        });
      known.set(key, reading);
      return reading;
    },
  };
}

async function readProfile(
  images: Pick<SourceImages, "extract">,
  overlay: CatalogOverlay,
): Promise<OverlayProfile> {
  if (!NAME.test(overlay.name)) return parseProfile(overlay.name, "{}");
  const dir = await mkdtemp(join(tmpdir(), "casthouse-overlay-"));
  try {
    const wanted = `profiles/${overlay.name}.yaml`;
    const tree = join(dir, "tree");
    const filter = (path: string) => path === wanted;
    await images.extract(overlay.image, overlay.digest, archHere("host"), tree, { filter });
    const stats = await lstat(join(tree, wanted)).catch(() => null);
    if (!stats?.isFile()) return parseProfile(overlay.name, "{}");
    if (stats.size > MOST_BYTES) throw unreadable(overlay.name, `it is ${stats.size} bytes long`);
    return parseProfile(overlay.name, await readFile(join(tree, wanted), "utf8"));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The profile in a YAML text. */
export function parseProfile(name: string, text: string): OverlayProfile {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw unreadable(name, error.message);
  const parsed = profileSchema.safeParse(document.toJS({ maxAliasCount: 0 }) ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unreadable(name, `${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { imageOptions, isoOptions } = parsed.data.output ?? {};
  const sectorSize = imageOptions?.diskSectorSize ?? 0;
  return {
    image: { ...chosen(imageOptions?.bootloader), ...(sectorSize === 0 ? {} : { sectorSize }) },
    iso: chosen(isoOptions?.bootloader),
  };
}

const chosen = (written: Bootloader | "none" | null | undefined): { bootloader?: Bootloader } =>
  written === null || written === undefined || written === "none" ? {} : { bootloader: written };

const unreadable = (name: string, reason: string): AppError =>
  new AppError("source_invalid", `the profile of the board overlay ${name} cannot be read: ${reason}`, {
    retryable: false,
  });
