/** Where GRUB's modules lie: in the release's imager image, or among those installed with this factory. */
import { createHash } from "node:crypto";
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors/app-error.ts";

/** Debian puts modules into the first; those for architectures of other machines an operator can put into the second. */
const ROOTS = ["/usr/lib/grub", "/usr/local/lib/grub"];
/** Debian package of each platform's modules; arm64-efi has none on amd64. */
const PACKAGES: Record<GrubPlatform, string> = {
  "i386-pc": "grub-pc-bin",
  "x86_64-efi": "grub-efi-amd64-bin",
  "arm64-efi": "grub-efi-arm64-bin (of Debian's arm64)",
};

export const GRUB_PLATFORMS = ["i386-pc", "x86_64-efi", "arm64-efi"] as const;
export type GrubPlatform = (typeof GRUB_PLATFORMS)[number];

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function installedFolder(platform: GrubPlatform): Promise<string | null> {
  for (const root of ROOTS) {
    const folder = join(root, platform);
    if (await exists(join(folder, "kernel.img"))) return folder;
  }
  return null;
}

/** Digest by platform of the modules installed here: what recipes carry as `installedGrub`. */
export async function readInstalledGrub(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const platform of GRUB_PLATFORMS) {
    const folder = await installedFolder(platform);
    if (folder !== null) found[platform] = await digestOf(folder);
  }
  return found;
}

/** SHA-256 over names and contents of what core images are made from. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(folder)).filter((file) => /\.(mod|img|lst|sh)$/.test(file)).sort()) {
    hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  }
  return hash.digest("hex");
}

/**
 * Folder with the modules of a platform: `released` (a folder of the release, which may be empty or missing) when it
 * holds some, else the installed ones, which must be those that the plan was made for (`installed`, null for unknown).
 * not_implemented naming the package when there are none, internal when they are others.
 */
export async function grubModules(
  platform: GrubPlatform,
  released: string | null,
  installed: string | null,
): Promise<string> {
  if (released !== null && (await exists(join(released, "kernel.img")))) return released;
  const folder = await installedFolder(platform);
  if (folder === null) {
    throw new AppError("not_implemented", `neither the release nor this factory has GRUB for ${platform}`, {
      hint: `The operator can put the modules of the Debian package ${PACKAGES[platform]} into ${ROOTS[1]}/${platform}.`,
      retryable: false,
    });
  }
  if (installed !== null && (await digestOf(folder)) !== installed) {
    throw new AppError("internal", `GRUB's modules in ${folder} are not those the build was planned with`, {
      hint: "Web and worker processes need the same version of GRUB; ask for the file again when they have.",
      retryable: false,
    });
  }
  return folder;
}
