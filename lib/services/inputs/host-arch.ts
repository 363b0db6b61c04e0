/** Which variant of a source image programs have to come from that this machine runs. */
import type { Arch } from "../../domain/asset.ts";

/** The architecture as it is; "host" becomes that of this machine. */
export const archHere = (arch: Arch | "host"): Arch => {
  if (arch !== "host") return arch;
  return process.arch === "arm64" ? "arm64" : "amd64";
};
