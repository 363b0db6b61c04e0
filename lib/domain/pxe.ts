/** The iPXE script that boots one asset over HTTP. */
import type { AssetProfile } from "./asset.ts";
import { assetFileName } from "./asset-path.ts";

export interface PxeRequest {
  /** Base of the links in the script, for example "http://factory.lan:3000", without trailing slash. */
  baseUrl: string;
  schematicId: string;
  /** Tag with "v". */
  version: string;
  /** Profile of the command line asset that was asked for. */
  profile: AssetProfile;
  /** The composed command line; it goes into the script as it is. */
  cmdline: string;
}

/**
 * Script text with LF line ends. A plain machine loads kernel and initramfs; with SecureBoot the signed unified kernel
 * image is the only file, and its own command line counts on machines that enforce it.
 */
export function pxeScript({ baseUrl, schematicId, version, profile, cmdline }: PxeRequest): string {
  const folder = `${baseUrl}/image/${schematicId}/${version}`;
  const url = (part: Pick<AssetProfile, "kind" | "secureboot">) =>
    `${folder}/${assetFileName({ ...profile, ...part, outFormat: "raw" })}`;
  const load = profile.secureboot
    ? [`kernel ${url({ kind: "uki", secureboot: true })} ${cmdline}`]
    : [
        `kernel ${url({ kind: "kernel", secureboot: false })} ${cmdline}`,
        `initrd ${url({ kind: "initramfs", secureboot: false })}`,
      ];
  return ["#!ipxe", "", "imgfree", ...load, "boot", ""].join("\n");
}
