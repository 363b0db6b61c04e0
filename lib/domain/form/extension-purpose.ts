/** What extensions are for, so that they can be found by purpose and not by name alone. */

export const PURPOSES = ["guest", "graphics", "storage", "network", "runtime", "firmware", "device"] as const;
/** guest: agents for hypervisors; device: drivers and tools for other hardware. */
export type Purpose = (typeof PURPOSES)[number];

/** Tried in order against name and description. */
const RULES: readonly [Purpose, RegExp][] = [
  ["guest", /guest|vmtools|xe-guest|metal-agent|hyper-?v/],
  [
    "graphics",
    /nvidia|amdgpu|\bgpu\b|i915|\bxe\b|vc4|panfrost|graphics|\bnpu\b|hailo|tenstorrent|gasket|accelerat|rknn/,
  ],
  ["storage", /zfs|btrfs|drbd|iscsi|nfs|nvme|mdadm|multipath|fuse|lvm|raid|storage|trident/],
  [
    "network",
    /vpn|tailscale|netbird|nebula|zerotier|tunnel|bird|lldp|routing|\bnic\b|ethernet|network(?! ?ups)|wireguard|mellanox|chelsio|\bena\b|bnx2|realtek|intel-ice|qlogic/,
  ],
  ["runtime", /containerd|runtime|snapshotter|gvisor|kata|crun|youki|spin|wasm|\bctr\b|credential/],
  ["firmware", /firmware|ucode|microcode/],
];

/** What people search for when they mean one of these. */
const SYNONYMS: readonly [RegExp, string][] = [
  [/tailscale|netbird|nebula|zerotier|newt|cloudflared/, "vpn tunnel mesh"],
  [/qemu-guest-agent/, "proxmox kvm libvirt virtual machine"],
  [/vmtoolsd/, "vmware vsphere esxi virtual machine"],
  [/xen-guest-agent|xe-guest/, "xen xcp-ng xenserver virtual machine"],
  [/iscsi-tools|util-linux-tools/, "longhorn openebs storage"],
  [/drbd/, "linstor piraeus storage"],
  [/i915|\/xe$|intel-npu|\/mei$/, "intel gpu graphics quicksync"],
  [/amdgpu/, "amd radeon gpu graphics"],
  [/nvidia/, "gpu cuda graphics"],
  [/vc4|revpi/, "raspberry pi"],
  [/ucode/, "cpu microcode processor"],
  [/nut-client/, "ups power"],
  [/gasket|hailort/, "coral tpu ai"],
];

/** The purpose of an extension; "device" for what no rule knows. */
export function purposeOf(name: string, description: string): Purpose {
  const text = `${name.slice(name.lastIndexOf("/") + 1)} ${description}`.toLowerCase();
  return RULES.find(([, pattern]) => pattern.test(text))?.[0] ?? "device";
}

/** Further words by which an extension is found. */
export const searchWords = (name: string): string =>
  SYNONYMS.filter(([pattern]) => pattern.test(name))
    .map(([, words]) => words)
    .join(" ");
