/** The profiles that are known by name. */
import { AppError } from "../../errors/app-error.ts";
import { PLATFORMS } from "../platforms.ts";
import type { ImagerProfile } from "./types.ts";

/** Disk images with SecureBoot that exist under a name of their own; any platform can be had through a document. */
const SECURE_IMAGES = ["metal", "azure", "cloudstack", "nocloud", "opennebula", "openstack", "vmware"];

const plain = (kind: string): ImagerProfile => ({
  platform: "metal",
  secureboot: false,
  output: { kind, outFormat: "raw" },
});

const secured = (profile: ImagerProfile): ImagerProfile => ({ ...profile, secureboot: true });

/** One disk image profile per platform that has defaults of its own. */
function diskProfiles(): [string, ImagerProfile][] {
  return PLATFORMS.flatMap(({ name, disk }): [string, ImagerProfile][] => {
    if (disk === null) return [];
    const options = disk.formatOptions === "" ? {} : { diskFormatOptions: disk.formatOptions };
    const imageOptions = { diskSize: disk.sizeBytes, diskFormat: disk.format, ...options };
    const output = { kind: "image", outFormat: disk.outFormat, imageOptions };
    return [[name, { platform: name, secureboot: false, output }]];
  });
}

function allProfiles(): Map<string, ImagerProfile> {
  const disks = new Map(diskProfiles());
  const profiles = new Map<string, ImagerProfile>([
    ["iso", plain("iso")],
    ["secureboot-iso", secured({ ...plain("iso"), output: { ...plain("iso").output, isoOptions: {} } })],
    ["metal-uki", plain("uki")],
    ["secureboot-metal-uki", secured(plain("uki"))],
    ["installer", plain("installer")],
    ["secureboot-installer", secured(plain("installer"))],
    ...disks,
  ]);
  const metal = disks.get("metal");
  if (metal !== undefined) {
    const imageOptions = { ...metal.output?.imageOptions, diskSectorSize: 4096 };
    profiles.set("metal-4k", { ...metal, output: { ...metal.output, imageOptions } });
  }
  for (const name of SECURE_IMAGES) {
    const disk = disks.get(name);
    if (disk !== undefined) profiles.set(`secureboot-${name}`, secured(disk));
  }
  return profiles;
}

const PROFILES = allProfiles();

/** Names of all built-in profiles, sorted. */
export const profileNames = (): string[] => [...PROFILES.keys()].sort();

/** The built-in profile with this name; invalid_input with the list of names when there is none. */
export function builtInProfile(name: string): ImagerProfile {
  const profile = PROFILES.get(name);
  if (profile !== undefined) return structuredClone(profile);
  throw new AppError("invalid_input", `no profile is called ${JSON.stringify(name)}`, {
    hint: `Known profiles: ${profileNames().join(", ")}.`,
    retryable: false,
  });
}
