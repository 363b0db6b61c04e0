/** Step "stock-modules": the kernel modules that a release brings itself, unpacked once for all sets of extensions. */
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import { AppError } from "../../errors/app-error.ts";
import { listCpio } from "../../formats/cpio.ts";
import { need, textParam } from "../params.ts";
import type { StepContext, StepFunction } from "../types.ts";
import { readPiece } from "./write-pieces.ts";

/** Params: version. Needs: the release's own initramfs. The product holds one folder per kernel release. */
export const stockModulesStep: StepFunction = async (params, needs, ctx) => {
  const modules = quirks(textParam(params, "version")).kernelModulePath.slice(1);
  const cpio = await unpackInitramfs(need(needs, 0).path, ctx);
  const members = await listCpio((offset, length) => readPiece(cpio, offset, length)).catch(
    (cause: unknown) => {
      throw new AppError("build_failed", "the initramfs of the release is not a cpio archive", { cause });
    },
  );
  const rootfs = members.find(({ name }) => name === "rootfs.sqsh");
  if (!rootfs) throw new AppError("build_failed", "the initramfs of the release holds no rootfs.sqsh");
  const root = join(ctx.dir, "root");
  await unsquash(cpio, root, modules, ctx, rootfs.offset);
  const path = join(ctx.dir, "modules");
  await rename(join(root, modules), path).catch(() => mkdir(path));
  return { path, shape: "tree" };
};

/** The one kernel release whose modules the product of this step holds. */
export async function kernelOf(modules: string): Promise<string> {
  const releases = await readdir(modules);
  const [release] = releases;
  if (release !== undefined && releases.length === 1) return release;
  throw new AppError(
    "build_failed",
    `the root file system of the release holds ${releases.length} sets of kernel modules`,
  );
}

async function unpackInitramfs(initramfs: string, ctx: StepContext): Promise<string> {
  const cpio = join(ctx.dir, "initramfs.cpio");
  const magic = Buffer.from(await readPiece(initramfs, 0, 4)).toString("hex");
  await ctx.run(magic === "fd377a58" ? "xz" : "zstd", ["-d", "-c", "-q"], {
    stdin: { file: initramfs },
    stdoutFile: cpio,
    signal: ctx.signal,
  });
  return cpio;
}

/** Unpacks `path` and what lies below it from a squashfs that begins at `offset` of the file. */
export const unsquash = (
  image: string,
  dir: string,
  path: string,
  ctx: StepContext,
  offset = 0,
): Promise<unknown> =>
  ctx.run("unsquashfs", ["-no-xattrs", "-n", "-q", "-f", "-o", String(offset), "-d", dir, image, path], {
    signal: ctx.signal,
  });
