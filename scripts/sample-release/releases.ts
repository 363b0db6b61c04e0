/** The releases the sample registry offers, and the versions of what belongs to each. */

/** Extensions in the order of the published list, and the board support images. */
export interface SampleRelease {
  tag: string;
  extensions: { name: string; version: string }[];
  overlayVersion: string;
  /** Marks in front of descriptions, as newer lists have them. */
  tiers: boolean;
  /** Folder of kernel modules and firmware inside the root file system: "usr/lib" since 1.10, "lib" before. */
  libraryFolder: "lib" | "usr/lib";
  /** Base image of installers: one layer since 1.10, two before. */
  installer: "installer" | "installer-base";
  /** talosctl binaries and the bill of materials came with 1.11. */
  since111: boolean;
}

interface Versions {
  drbd: string;
  i915: string;
  intelUcode: string;
  iscsiTools: string;
  qemuGuestAgent: string;
}

const extensionsOf = (tag: string, versions: Versions): SampleRelease["extensions"] => [
  { name: "drbd", version: `${versions.drbd}-${tag}` },
  { name: "hello-world-service", version: "v1.0.0" },
  { name: "i915", version: `${versions.i915}-${tag}` },
  { name: "intel-ucode", version: versions.intelUcode },
  { name: "iscsi-tools", version: versions.iscsiTools },
  { name: "qemu-guest-agent", version: versions.qemuGuestAgent },
];

const release = (tag: string, overlayVersion: string, versions: Versions): SampleRelease => {
  const minor = Number(tag.split(".")[1]);
  return {
    tag,
    overlayVersion,
    extensions: extensionsOf(tag, versions),
    tiers: minor >= 12,
    libraryFolder: minor >= 10 ? "usr/lib" : "lib",
    installer: minor >= 10 ? "installer-base" : "installer",
    since111: minor >= 11,
  };
};

export const RELEASES: SampleRelease[] = [
  release("v1.9.5", "v0.1.3", {
    drbd: "9.2.13",
    i915: "20250410",
    intelUcode: "20250211",
    iscsiTools: "v0.1.6",
    qemuGuestAgent: "9.2.0",
  }),
  release("v1.10.7", "v0.1.5", {
    drbd: "9.2.16",
    i915: "20251111",
    intelUcode: "20251111",
    iscsiTools: "v0.2.0",
    qemuGuestAgent: "10.0.2",
  }),
  release("v1.12.4", "v0.2.0", {
    drbd: "9.2.16",
    i915: "20260622",
    intelUcode: "20260512",
    iscsiTools: "v0.2.0",
    qemuGuestAgent: "10.2.0",
  }),
  release("v1.13.2", "v0.2.0", {
    drbd: "9.3.3",
    i915: "20260810",
    intelUcode: "20260812",
    iscsiTools: "v0.2.0",
    qemuGuestAgent: "11.0.2",
  }),
  release("v1.14.0-beta.1", "v0.2.0", {
    drbd: "9.3.3",
    i915: "20260810",
    intelUcode: "20260812",
    iscsiTools: "v0.2.0",
    qemuGuestAgent: "11.1.0",
  }),
];

export const PADDED_TAG = "v1.13.2";

/** Seconds since 1970 that every file of the sample carries, so that a rebuild gives the same bytes. */
export const SAMPLE_EPOCH = 1_559_424_892;
