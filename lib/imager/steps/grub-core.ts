/** Step grub-core: GRUB's core image for BIOS or UEFI with every module it needs inside. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { GRUB_PLATFORMS, grubModules } from "../grub-modules.ts";
import { choiceParam, optionalTextParam } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** GRUB looks for its menu on the third GPT partition of the first disk. */
const PREFIX = "(hd0,gpt3)/grub";
const MODULES =
  "part_gpt ext2 fat xfs normal configfile linux boot search search_fs_uuid search_fs_file ls cat echo test help reboot halt all_video";
/** Only the BIOS core reads disks through firmware calls. */
const BIOS_MODULES = ["biosdisk", "part_msdos"];

/**
 * Params: platform, installed (digest of the modules installed here, or null). Needs: the release's own modules. For
 * i386-pc the product is a folder with boot.img and core.img, both without addresses; for the EFI platforms it is the
 * EFI program.
 */
export const grubCore: StepFunction = async (params, needs, ctx) => {
  const platform = choiceParam(params, "platform", GRUB_PLATFORMS);
  const installed = optionalTextParam(params, "installed");
  const modules = await grubModules(platform, needs[0]?.path ?? null, installed);
  const folder = join(ctx.dir, "grub");
  await mkdir(folder);
  const bios = platform === "i386-pc";
  const output = join(folder, bios ? "core.img" : "grub.efi");
  const options = bios ? [] : ["--compression", "xz"];
  const names = [...MODULES.split(" "), ...(bios ? BIOS_MODULES : [])];
  const args = ["--directory", modules, "--format", platform, "--output", output, "--prefix", PREFIX];
  await ctx.run("grub-mkimage", [...args, ...options, ...names], { signal: ctx.signal });
  if (!bios) return { path: output, shape: "file" };
  await copyFile(join(modules, "boot.img"), join(folder, "boot.img"));
  return { path: folder, shape: "tree" };
};
