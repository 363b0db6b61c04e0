/** Names of the installer images that nodes pull to install and upgrade. */
import { quirks } from "./quirks.ts";

export interface InstallerImage {
  platform: string;
  secureboot: boolean;
  schematicId: string;
  /** Tag with "v". */
  version: string;
}

/** Repository name without host: `metal-installer`, `aws-installer-secureboot`; before 1.10 just `installer`. */
export function installerName({
  platform,
  secureboot,
  version,
}: Omit<InstallerImage, "schematicId">): string {
  const name = quirks(version).unifiedInstaller ? `${platform}-installer` : "installer";
  return secureboot ? `${name}-secureboot` : name;
}

/** The reference to hand to `talosctl upgrade --image`: `<host>/metal-installer/<id>:v1.13.0`. */
export function installerReference(host: string, image: InstallerImage): string {
  return `${host}/${installerName(image)}/${image.schematicId}:${image.version}`;
}
