/** The profile that another one inherits from: of a board's overlay image, else a built-in one. */
import { lstat, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { inherit } from "../lib/domain/imager-profile/complete.ts";
import { decodeProfile } from "../lib/domain/imager-profile/decode.ts";
import type { ImagerProfile } from "../lib/domain/imager-profile/types.ts";
import { archHere } from "../lib/services/inputs/host-arch.ts";
import type { ImageShelf } from "./image-shelf.ts";
import type { CommandSettings } from "./settings.ts";

/** A name that is also a file name. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** The profile over the one it names. invalid_input when neither the overlay nor this program knows that name. */
export async function inheritProfile(
  profile: ImagerProfile,
  shelf: ImageShelf,
  settings: CommandSettings,
): Promise<ImagerProfile> {
  const name = profile.baseProfileName ?? "";
  const image = profile.overlay?.image;
  if (image === undefined || !NAME.test(name)) return inherit(profile);
  const { repository, digest } = await shelf.pin(image);
  await mkdir(settings.cacheDir, { recursive: true });
  const dir = await mkdtemp(join(settings.cacheDir, "profile-"));
  try {
    const wanted = `profiles/${name}.yaml`;
    const tree = join(dir, "tree");
    const filter = (path: string) => path === wanted;
    await shelf.images.extract(repository, digest, archHere("host"), tree, { filter });
    const file = join(tree, wanted);
    const found = await lstat(file).catch(() => null);
    if (!found?.isFile()) return inherit(profile);
    return inherit(profile, { [name]: decodeProfile(await readFile(file, "utf8")) });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
