/** Joins what is done with archives and folders of extensions: unpacked, looked at, packed, described as an image. */
import type { RunTool } from "../../exec/run.ts";
import { extensionArchitectures } from "../../imager/extension/architecture.ts";
import { checkExtension } from "../../imager/extension/check.ts";
import { extensionImage } from "../../imager/extension/image.ts";
import { packExtension } from "../../imager/extension/pack.ts";
import { unpackExtension } from "../../oci/extension-archive.ts";
import type { ExtensionTools } from "./uploads.ts";

/** The tools of one process; `run` starts zstd. */
export function createExtensionTools({ run }: { run: RunTool }): ExtensionTools {
  return {
    unpack: (file, dir, limits, signal) => unpackExtension(file, dir, limits, { run, signal }),
    architectures: extensionArchitectures,
    check: (tree, arch, release, signal) => checkExtension(tree, { arch, release, signal }),
    pack: packExtension,
    image: extensionImage,
  };
}
