/** Step "grub-iso": what GRUB needs on an ISO, whatever is booted from it: modules, El Torito image, EFI programs. */
import { copyFile, mkdir, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EPOCH_ENVIRONMENT } from "../epoch.ts";
import { type GrubPlatform, grubModules } from "../grub-modules.ts";
import { flagParam } from "../params.ts";
import type { StepContext, StepFunction } from "../types.ts";
import { GRUB_BIOS, GRUB_EFI } from "./grub-platforms.ts";

const EFI_IMAGE_BYTES = 2880 * 1024;
/** Files of a platform folder that GRUB reads at run time; device trees (fdt.lst) are not its business here. */
const RUNTIME_FILES = /(\.mod|^(?!fdt).*\.lst|^modinfo\.sh|^efiemu(32|64)\.o)$/;

/**
 * Params: efi (true: also the EFI half, for ISOs without systemd-boot). The product is a tree to be merged into the
 * ISO's root. Modules stay uncompressed: the part is made once, and an ISO grows by 1.5 MB.
 */
export const grubIsoStep: StepFunction = async (params, _needs, ctx) => {
  const tree = join(ctx.dir, "grub");
  await mkdir(join(tree, "boot/grub/roms"), { recursive: true });
  const folder = await copyPlatform(GRUB_BIOS.name, tree);
  await makeImage(GRUB_BIOS, join(folder, "eltorito.img"), null, ctx);
  if (flagParam(params, "efi")) await addEfi(tree, ctx);
  return { path: tree, shape: "tree" };
};

async function addEfi(tree: string, ctx: StepContext): Promise<void> {
  await copyPlatform(GRUB_EFI.name, tree);
  const services = join(tree, "System/Library/CoreServices");
  await mkdir(services, { recursive: true });
  const program = join(services, "boot.efi");
  const config = join(ctx.dir, "efi.cfg");
  await writeFile(config, GRUB_EFI.config);
  await makeImage(GRUB_EFI, program, config, ctx);
  await writeFile(join(tree, "mach_kernel"), "");
  await writeFile(join(services, "SystemVersion.plist"), SYSTEM_VERSION);

  const image = join(tree, "efi.img");
  await writeFile(image, "");
  await truncate(image, EFI_IMAGE_BYTES);
  const options = { env: EPOCH_ENVIRONMENT, signal: ctx.signal };
  await ctx.run("mkfs.vfat", ["-F", "12", "--invariant", image], options);
  await ctx.run("mmd", ["-i", image, "::/efi", "::/efi/boot"], options);
  await ctx.run("mcopy", ["-i", image, program, "::/efi/boot/bootx64.efi"], options);
}

async function copyPlatform(platform: GrubPlatform, tree: string): Promise<string> {
  const source = await grubModules(platform);
  const target = join(tree, "boot/grub", platform);
  await mkdir(target, { recursive: true });
  const wanted = (await readdir(source)).filter((name) => RUNTIME_FILES.test(name)).sort();
  await Promise.all(wanted.map((name) => copyFile(join(source, name), join(target, name))));
  return target;
}

async function makeImage(
  platform: typeof GRUB_BIOS | typeof GRUB_EFI,
  out: string,
  config: string | null,
  ctx: StepContext,
): Promise<void> {
  await ctx.run(
    "grub-mkimage",
    [
      "--directory",
      await grubModules(platform.name),
      "--prefix",
      platform.prefix,
      "--format",
      platform.format,
      "--output",
      out,
      ...(config === null ? [] : ["--config", config]),
      ...platform.modules,
    ],
    { env: EPOCH_ENVIRONMENT, signal: ctx.signal },
  );
}

/** Old Macs show a boot volume only when this file is there. */
const SYSTEM_VERSION = `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0">
<dict>
  <key>ProductBuildVersion</key>
  <string></string>
  <key>ProductName</key>
  <string>GRUB</string>
  <key>ProductVersion</key>
  <string>2</string>
</dict>
</plist>
`;
