/** Names and addresses of one choice: files, PXE script, installer. */
import { findPlatform } from "../platforms.ts";
import { quirks } from "../quirks.ts";
import { isAtLeast } from "../versions.ts";
import type { SnippetContext } from "./types.ts";

type Choice = Pick<SnippetContext, "arch" | "secureboot">;
type Place = Pick<SnippetContext, "publicUrl" | "pxeUrl" | "schematicId" | "version">;

/** `metal-amd64-secureboot`: how the names of a platform's files begin. */
export const fileStem = ({ arch, secureboot }: Choice, platform: string): string =>
  `${platform}-${arch}${secureboot ? "-secureboot" : ""}`;

/** Address of a file. */
export const fileUrl = ({ publicUrl, schematicId, version }: Place, path: string): string =>
  `${publicUrl}/image/${schematicId}/${version}/${path}`;

/** Address of the iPXE script of `metal-amd64` and the like. */
const pxeScriptUrl = ({ pxeUrl, schematicId, version }: Place, name: string): string =>
  `${pxeUrl}/pxe/${schematicId}/${version}/${name}`;

/** The line that an iPXE shell or script runs. */
export const chainLine = (place: Place, name: string): string =>
  `chain --autofree ${pxeScriptUrl(place, name)}`;

/** Host and port of the registry, as image references begin. */
export const registryHost = (publicUrl: string): string => publicUrl.replace(/^https?:\/\//, "");

/** Reference of the installer image. Before 1.10 one image serves every platform. */
export function installerReference(
  place: Pick<SnippetContext, "publicUrl" | "schematicId" | "version" | "platform" | "secureboot">,
): string {
  const { publicUrl, schematicId, version, platform, secureboot } = place;
  const own = quirks(version).unifiedInstaller ? `${platform}-installer` : "installer";
  return `${registryHost(publicUrl)}/${own}${secureboot ? "-secureboot" : ""}/${schematicId}:${version}`;
}

/** The command that moves a node to this choice; `NODE` is set before it. */
export const upgradeCommand = (reference: string): string =>
  `talosctl upgrade --nodes "$NODE" --image ${reference}`;

/** True when the platform exists for this choice: architecture, version, SecureBoot. Boards have no platform. */
export function offersPlatform(context: SnippetContext, name: string): boolean {
  const platform = findPlatform(name);
  if (platform === null || context.board !== null) return false;
  if (!platform.architectures.includes(context.arch)) return false;
  if (platform.minVersion !== null && !isAtLeast(context.version, platform.minVersion)) return false;
  return !context.secureboot || platform.secureBootSupported;
}

/** True when disks of this choice start with UEFI alone. */
export const needsUefi = ({ bootloader, arch }: Pick<SnippetContext, "bootloader" | "arch">): boolean =>
  bootloader === "sd-boot" || arch === "arm64";

/** A name for this choice at places that take letters, digits and dashes: `talos-v1-13-2-ce4c9805-amd64`. */
export const imageLabel = ({
  version,
  schematicId,
  arch,
}: Pick<SnippetContext, "version" | "schematicId" | "arch">): string =>
  `talos-${version.replaceAll(".", "-")}-${schematicId.slice(0, 8)}-${arch}`;
