/** Step "grub-iso": what GRUB needs on an ISO, whatever is booted from it: modules, El Torito image, EFI programs. */
import { copyFile, mkdir, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EPOCH_ENVIRONMENT } from "../epoch.ts";
import { GRUB_PLATFORMS, grubModules } from "../grub-modules.ts";
import { choiceParam, listParam, optionalTextParam } from "../params.ts";
import type { Product, StepContext, StepFunction } from "../types.ts";
import { GRUB_BIOS, GRUB_EFI, GRUB_EFI_FILE, GRUB_HYBRID_MBR } from "./grub-platforms.ts";

const EFI_IMAGE_BYTES = 2880 * 1024;
/** Files of a platform folder that GRUB reads at run time; device trees (fdt.lst) are not its business here. */
const RUNTIME_FILES = /(\.mod|^(?!fdt).*\.lst|^modinfo\.sh|^efiemu(32|64)\.o)$/;

type EfiPlatform = keyof typeof GRUB_EFI;

/**
 * Params: platforms, a list of { platform, installed } as for grub-core. Needs: the release's own modules, for each. The
 * product is a tree to be merged into the ISO's root; of its folder boot only grub belongs there. Modules stay
 * uncompressed: the part is made once, and an ISO grows by 1.5 MB.
 */
export const grubIsoStep: StepFunction = async (params, needs, ctx) => {
  const tree = join(ctx.dir, "grub");
  await mkdir(join(tree, "boot/grub/roms"), { recursive: true });
  for (const [index, entry] of listParam(params, "platforms").entries()) {
    const platform = choiceParam(entry, "platform", GRUB_PLATFORMS);
    const modules = await modulesOf(platform, entry, needs[index]);
    const folder = await copyPlatform(platform, modules, tree);
    if (platform === "i386-pc") {
      await copyFile(join(modules, GRUB_HYBRID_MBR), join(tree, "boot", GRUB_HYBRID_MBR));
      await makeImage(GRUB_BIOS, modules, join(folder, "eltorito.img"), null, ctx);
    } else await addEfi(platform, modules, tree, ctx);
  }
  return { path: tree, shape: "tree" };
};

const modulesOf = (
  platform: (typeof GRUB_PLATFORMS)[number],
  entry: Parameters<typeof optionalTextParam>[0],
  released: Product | undefined,
): Promise<string> => grubModules(platform, released?.path ?? null, optionalTextParam(entry, "installed"));

async function addEfi(platform: EfiPlatform, modules: string, tree: string, ctx: StepContext): Promise<void> {
  const config = join(ctx.dir, "efi.cfg");
  const program = join(ctx.dir, "grub.efi");
  await writeFile(config, GRUB_EFI[platform].config);
  await makeImage(GRUB_EFI[platform], modules, program, config, ctx);
  if (platform === "x86_64-efi") await addMacFiles(program, tree);

  const image = join(tree, "efi.img");
  await writeFile(image, "");
  await truncate(image, EFI_IMAGE_BYTES);
  const options = { env: EPOCH_ENVIRONMENT, signal: ctx.signal };
  await ctx.run("mkfs.vfat", ["-F", "12", "--invariant", image], options);
  await ctx.run("mmd", ["-i", image, "::/efi", "::/efi/boot"], options);
  await ctx.run("mcopy", ["-i", image, program, `::/efi/boot/${GRUB_EFI_FILE[platform]}`], options);
}

async function addMacFiles(program: string, tree: string): Promise<void> {
  const services = join(tree, "System/Library/CoreServices");
  await mkdir(services, { recursive: true });
  await copyFile(program, join(services, "boot.efi"));
  await writeFile(join(tree, "mach_kernel"), "");
  await writeFile(join(services, "SystemVersion.plist"), SYSTEM_VERSION);
}

async function copyPlatform(platform: string, source: string, tree: string): Promise<string> {
  const target = join(tree, "boot/grub", platform);
  await mkdir(target, { recursive: true });
  const wanted = (await readdir(source)).filter((name) => RUNTIME_FILES.test(name)).sort();
  await Promise.all(wanted.map((name) => copyFile(join(source, name), join(target, name))));
  return target;
}

async function makeImage(
  platform: typeof GRUB_BIOS | (typeof GRUB_EFI)[EfiPlatform],
  modules: string,
  out: string,
  config: string | null,
  ctx: StepContext,
): Promise<void> {
  const { prefix, format, modules: names } = platform;
  await ctx.run(
    "grub-mkimage",
    [
      ...["--directory", modules, "--prefix", prefix, "--format", format, "--output", out],
      ...(config === null ? [] : ["--config", config]),
      ...names,
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
