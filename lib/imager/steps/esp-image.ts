/** The EFI system partition of an ISO as an image file, written without mounting anything. */
import { lstat, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { espSectorsPerCluster, isoEspBytes } from "../../formats/esp-size.ts";
import { EPOCH_ENVIRONMENT } from "../epoch.ts";
import { parentFolders } from "../parent-folders.ts";
import type { StepContext } from "../types.ts";

/** A file of the image: its path in it and where its bytes are. */
export interface EspFile {
  path: string;
  source: string;
}

export interface IsoEsp {
  sdBoot: EspFile;
  uki: EspFile;
  /** Entries of folders get the order of this list. */
  others: EspFile[];
  /** Path that gets the read-only attribute. */
  readOnly: string;
}

/** Writes `esp.img` into the step's folder and gives its path. FAT32 (Microsoft FAT specification), fixed serial. */
export async function writeIsoEsp(esp: IsoEsp, ctx: StepContext): Promise<string> {
  const image = join(ctx.dir, "esp.img");
  const sizeBytes = isoEspBytes((await lstat(esp.sdBoot.source)).size, (await lstat(esp.uki.source)).size);
  await writeFile(image, "");
  const file = await open(image, "r+");
  await file.truncate(sizeBytes).finally(() => file.close());
  const options = { env: EPOCH_ENVIRONMENT, signal: ctx.signal };
  const perCluster = String(espSectorsPerCluster(sizeBytes));
  await ctx.run("mkfs.vfat", ["-F", "32", "-n", "EFI", "--invariant", "-s", perCluster, image], options);
  const made = new Set<string>();
  for (const { path, source } of [esp.uki, esp.sdBoot, ...esp.others]) {
    const missing = parentFolders([path]).filter((folder) => !made.has(folder));
    if (missing.length > 0)
      await ctx.run("mmd", ["-i", image, ...missing.map((folder) => `::/${folder}`)], options);
    for (const folder of missing) made.add(folder);
    await ctx.run("mcopy", ["-i", image, "-Q", source, `::/${path}`], options);
  }
  await ctx.run("mattrib", ["-i", image, "+r", `::/${esp.readOnly}`], options);
  return image;
}
