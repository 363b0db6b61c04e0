/** Plans what a raw disk is handed out as: its format, then its compression. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addKernel, addStockInitramfs } from "./inputs.ts";

/** Adds the steps from the raw disk to the file of the recipe's profile; gives the id of the last one. */
export function addDiskFormat(b: PlanBuilder, recipe: Recipe, diskBytes: number, disk: string): string {
  const converted = addConversion(b, disk, recipe, diskBytes);
  return recipe.profile.outFormat === "raw" ? converted : addPacked(b, recipe, converted);
}

/** The disk in the format that was asked for; raw disks and fixed VHDs are what the step before made. */
function addConversion(b: PlanBuilder, disk: string, { profile }: Recipe, diskBytes: number): string {
  const { format, formatOptions } = profile.disk ?? { format: "raw", formatOptions: "" };
  if (format === "qcow2") return addQcow2(b, disk, qcow2Options(formatOptions));
  return format === "ova" ? addOva(b, disk, diskBytes) : disk;
}

/** The options of a platform whose own format is VHD say nothing about qcow2, and qemu-img refuses them. */
const qcow2Options = (options: string): string => (options.includes("subformat=") ? "" : options);

function addOva(b: PlanBuilder, disk: string, diskBytes: number): string {
  return b.step({
    id: "ova",
    op: "ova",
    phase: "disk",
    title: "Pack the disk and the description of its machine",
    params: { diskBytes },
    needs: [disk],
    part: false,
  });
}

function addQcow2(b: PlanBuilder, disk: string, options: string): string {
  return b.step({
    id: "qcow2",
    op: "qcow2",
    phase: "disk",
    title: "Convert the disk to qcow2",
    params: { options },
    needs: [disk],
    part: false,
  });
}

/**
 * Kernel and initramfs fill most of a disk. The kernel and the release's own part of the initramfs are packed once for
 * all schematics; a disk is put together around both.
 */
function addPacked(b: PlanBuilder, recipe: Recipe, disk: string): string {
  const { platform, arch, disk: profile, outFormat: format } = recipe.profile;
  const step = (needs: string[]): string =>
    b.step({
      id: "packed",
      op: "packed",
      phase: "compress",
      title: "Compress the disk, holes left out",
      params: { format, name: `${platform}-${arch}.${profile?.format ?? "raw"}` },
      needs,
      part: false,
    });
  // Inside an OVA everything is compressed already: no file of the disk can be found again.
  if (profile?.format === "ova") return step([disk]);
  const kernel = addKernel(b, recipe);
  const stock = addStockInitramfs(b, recipe);
  const partFormat = format === ".tar.gz" ? ".gz" : format;
  const pack = (id: string): string =>
    b.step({
      id: `packed-${id}`,
      op: "packed-part",
      phase: "compress",
      title: `Compress the ${id}`,
      params: { format: partFormat },
      needs: [id],
      part: true,
    });
  return step([disk, kernel, pack(kernel), stock, pack(stock)]);
}
