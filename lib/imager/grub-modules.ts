/** Where GRUB's own modules lie, and the clear answer when those of a machine type are not installed. */
import { access } from "node:fs/promises";
import { AppError } from "../errors/app-error.ts";

const ROOT = "/usr/lib/grub";
/** Debian package of each platform's modules; arm64-efi has none on amd64. */
const PACKAGES: Record<string, string> = { "i386-pc": "grub-pc-bin", "x86_64-efi": "grub-efi-amd64-bin" };

export type GrubPlatform = "i386-pc" | "x86_64-efi" | "arm64-efi";

/** Folder with the modules of a platform; not_implemented naming the folder when it is missing. */
export async function grubModules(platform: GrubPlatform): Promise<string> {
  const folder = `${ROOT}/${platform}`;
  const there = await access(`${folder}/kernel.img`).then(
    () => true,
    () => false,
  );
  if (there) return folder;
  const packageName = PACKAGES[platform];
  throw new AppError("not_implemented", `this factory has no GRUB modules in ${folder}`, {
    hint:
      packageName === undefined
        ? "Choose a release from 1.10 on, whose images for arm64 boot without GRUB."
        : `The operator can install the Debian package ${packageName}.`,
    retryable: false,
  });
}
