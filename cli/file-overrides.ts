/** Files of a release that are given on this machine, instead of those in the release's imager image. */
import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { CompleteProfile } from "../lib/domain/imager-profile/complete.ts";
import type { PlanInput } from "../lib/imager/types.ts";
import { fileDigest } from "../lib/services/inputs/content-digest.ts";

/** File by its path in an imager image, for example usr/install/amd64/vmlinuz. */
export type FileOverrides = ReadonlyMap<string, string>;

const NAMES = {
  kernel: "vmlinuz",
  initramfs: "initramfs.xz",
  sdStub: "systemd-stub.efi",
  sdBoot: "systemd-boot.efi",
} as const;

/** What the profile names, and below `root` what an imager image has there (such a command may run inside one). */
export async function findOverrides(
  { source, arch }: CompleteProfile,
  workingFolder: string,
  root = "/",
): Promise<FileOverrides> {
  const found = new Map<string, string>();
  for (const field of ["kernel", "initramfs", "sdStub", "sdBoot"] as const) {
    const place = `usr/install/${arch}/${NAMES[field]}`;
    const written = source.input?.[field]?.path ?? "";
    if (written !== "") found.set(place, resolve(workingFolder, written));
    else if (await exists(join(root, place))) found.set(place, join(root, place));
  }
  return found;
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The file that replaces an input of a plan, or null. */
export const overrideOf = (overrides: FileOverrides, input: PlanInput): string | null =>
  input.kind === "image-file" ? (overrides.get(input.path) ?? null) : null;

/** Digest of an imager image with these files in place of its own; `pinned` is null when nothing of it is used. */
export async function digestWith(overrides: FileOverrides, pinned: string | null): Promise<string> {
  if (overrides.size === 0 && pinned !== null) return pinned;
  const files: string[][] = [];
  for (const [place, file] of [...overrides].sort()) files.push([place, await fileDigest(file)]);
  return `sha256:${createHash("sha256").update(JSON.stringify({ pinned, files })).digest("hex")}`;
}
