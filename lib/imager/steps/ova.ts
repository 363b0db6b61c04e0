/** Step ova: the disk as a stream-optimized VMDK, with the description of a machine and checksums, in one package. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { ovaManifest, ovfDescriptor } from "../../formats/ovf.ts";
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from "../../formats/tar.ts";
import { fixedVmdkDescriptor, vmdkDescriptorPlace } from "../../formats/vmdk.ts";
import { fileSha256, sha256Hex } from "../digests.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { need, numberParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { type Piece, readPiece, writePieces } from "./write-pieces.ts";

const VMDK_OPTIONS = "compat6,subformat=streamOptimized,adapter_type=lsilogic";
const SECTOR = 512;

/**
 * Params: diskBytes. Needs: the raw disk. The package is a ustar archive with the members in the order that DSP0243
 * §5.3 asks for: description, checksums, disk.
 */
export const ova: StepFunction = async (params, needs, ctx) => {
  const vmdk = join(ctx.dir, "disk.vmdk");
  const args = ["convert", "-f", "raw", "-O", "vmdk", "-o", VMDK_OPTIONS, need(needs, 0).path, vmdk];
  await ctx.run("qemu-img", args, { signal: ctx.signal });
  await fixDescriptor(vmdk);
  ctx.progress(80);
  const { size } = await stat(vmdk);
  const ovf = new TextEncoder().encode(
    ovfDescriptor({ fileBytes: size, diskBytes: numberParam(params, "diskBytes") }),
  );
  const sums = {
    vmdk: await fileSha256(vmdk, ctx.signal),
    ovf: sha256Hex(ovf),
  };
  const manifest = new TextEncoder().encode(ovaManifest(sums));
  const path = join(ctx.dir, "disk.ova");
  const pieces = [
    ...member("disk.ovf", ovf, ovf.length),
    ...member("disk.mf", manifest, manifest.length),
    ...member("disk.vmdk", { file: vmdk }, size),
    new Uint8Array(TAR_END_BYTES),
  ];
  await writePieces(path, pieces, ctx.signal);
  return { path, shape: "file" };
};

function member(name: string, content: Piece, sizeBytes: number): Piece[] {
  const header = tarHeader({ name, kind: "file", mode: 0o644, sizeBytes, mtime: SOURCE_DATE_EPOCH });
  return [header, content, new Uint8Array(tarPaddingBytes(sizeBytes))];
}

/** qemu-img gives every VMDK a random content ID. */
async function fixDescriptor(path: string): Promise<void> {
  const { offset, length } = vmdkDescriptorPlace(await readPiece(path, 0, SECTOR));
  const fixed = fixedVmdkDescriptor(await readPiece(path, offset, length));
  const file = await open(path, "r+");
  try {
    await file.write(fixed, 0, fixed.length, offset);
  } finally {
    await file.close();
  }
}
