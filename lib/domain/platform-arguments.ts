/** Kernel arguments that each platform needs. The newest release's list is used for every version. */
import { invalidInput } from "../errors/app-error.ts";
import type { Arch } from "./asset.ts";
import { platformNames } from "./platforms.ts";
import { quirks } from "./quirks.ts";
import { quoteText } from "./quote.ts";

const CLOUD = "console=tty1 console=ttyS0 net.ifnames=0";
const THREE_CONSOLES = "console=ttyS0 console=tty0 console=tty1 net.ifnames=0";
const NO_DASHBOARD = `${CLOUD} talos.dashboard.disabled=1`;
const NO_KEXEC = "talos.dashboard.disabled=1 sysctl.kernel.kexec_load_disabled=1";
const AZURE = `console=ttyS0,115200n8 earlyprintk=ttyS0,115200 rootdelay=300 net.ifnames=0 ${NO_KEXEC}`;

type Arguments = string | Record<Arch, string>;

const TABLE: Record<string, Arguments> = {
  akamai: THREE_CONSOLES,
  alibabacloud: CLOUD,
  aws: CLOUD,
  azure: AZURE,
  cloudstack: CLOUD,
  container: "",
  "digital-ocean": THREE_CONSOLES,
  equinixMetal: { amd64: "console=ttyS1,115200n8", arm64: "console=ttyAMA0,115200" },
  exoscale: CLOUD,
  gcp: `console=ttyS0 net.ifnames=0 ${NO_KEXEC}`,
  hcloud: CLOUD,
  metal: { amd64: "console=tty0", arm64: "console=ttyAMA0 console=tty0" },
  nocloud: CLOUD,
  opennebula: CLOUD,
  openstack: CLOUD,
  oracle: NO_DASHBOARD,
  scaleway: NO_DASHBOARD,
  upcloud: "net.ifnames=0",
  vmware: {
    amd64: "talos.config=guestinfo console=tty0 console=ttyS0 earlyprintk=ttyS0,115200 net.ifnames=0",
    arm64: "talos.config=guestinfo console=tty0 console=ttyAMA0 net.ifnames=0",
  },
  vultr: "net.ifnames=0",
};

const ALIASES: Record<string, string> = { packet: "equinixMetal" };

/**
 * The name a platform goes by on the command line (`packet` is equinixMetal).
 * Throws invalid_input naming the platform when no release knows it.
 */
export function kernelPlatform(platform: string): string {
  const name = Object.hasOwn(ALIASES, platform) ? (ALIASES[platform] ?? platform) : platform;
  if (!Object.hasOwn(TABLE, name)) {
    throw invalidInput(`platform ${quoteText(platform)} is not known`, {
      hint: `Platforms: ${platformNames().join(", ")}.`,
    });
  }
  return name;
}

/** Printed name and arguments, in order. Throws invalid_input for an unknown platform. */
export function platformArguments(
  platform: string,
  arch: Arch,
  version: string,
): { name: string; arguments: string[] } {
  const name = kernelPlatform(platform);
  const rules = quirks(version);
  const row = TABLE[name] ?? "";
  const list = (typeof row === "string" ? row : row[arch]).split(" ").filter((word) => word !== "");
  if (name === "metal" && arch === "amd64" && rules.metalSerialConsole) list.unshift("console=ttyS0");
  if (name === "aws" && !rules.nvmeTimeoutEverywhere) list.push("nvme_core.io_timeout=4294967295");
  return { name, arguments: list };
}
