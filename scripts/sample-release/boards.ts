/** Board overlays of the sample: installer programs that speak the overlay protocol, with boot loaders out of Debian. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { requirePackage } from "./base.ts";
import { standaloneScriptProgram } from "./carrier.ts";
import type { DebianTrees } from "./debian.ts";
import { copyOf, type Tree, text } from "./tree.ts";

export interface Board {
  /** Overlay name: the installer program and the profile. */
  name: string;
  /** Repository below siderolabs/. */
  image: string;
  kernelArgs: string[];
  /** Sectors of 512 bytes left free behind the GPT. */
  offset: number;
  /** Shell lines of the verb "install"; $disk, $boot and $artifacts are set, option NAME prints an extra option. */
  install: string;
  artifacts: (arm64: DebianTrees) => Promise<Tree>;
}

const COMMON_ARGS = ["sysctl.kernel.kexec_load_disabled=1", "talos.dashboard.disabled=1"];

export const BOARDS: Board[] = [
  {
    name: "rpi_generic",
    image: "sbc-raspberrypi",
    kernelArgs: ["console=tty0", "console=ttyAMA0,115200", ...COMMON_ARGS],
    offset: 0,
    install: `
      cp -r "$artifacts"/arm64/firmware/boot/. "$boot"/
      cp "$artifacts"/arm64/u-boot/rpi_generic/u-boot.bin "$boot"/u-boot.bin
      if [ -n "$(option configTxt)" ]; then option configTxt >"$boot"/config.txt; fi
      if [ -n "$(option configTxtAppend)" ]; then option configTxtAppend >>"$boot"/config.txt; fi`,
    artifacts: raspberryArtifacts,
  },
  {
    name: "rock4cplus",
    image: "sbc-rockchip",
    kernelArgs: ["console=tty0", "console=ttyS2,1500000n8", ...COMMON_ARGS],
    offset: 20_480,
    install: `
      dd if="$artifacts"/arm64/u-boot/rock4cplus/u-boot-rockchip.bin of="$disk" bs=512 seek=64 conv=notrunc
      mkdir -p "$boot"/dtb/rockchip
      cp "$artifacts"/arm64/dtb/rockchip/rk3399-rock-4c-plus.dtb "$boot"/dtb/rockchip/`,
    artifacts: rockchipArtifacts,
  },
];

/** The tree of an overlay image for one architecture of the build host; artifacts are the same in both. */
export async function boardTree(
  board: Board,
  arch: Arch,
  debian: DebianTrees,
  arm64: DebianTrees,
): Promise<Tree> {
  const busybox = await readFile(join(requirePackage(debian, "busybox-static"), "bin/busybox"));
  const tree: Tree = new Map();
  tree.set(`installers/${board.name}`, {
    bytes: standaloneScriptProgram(arch, busybox, {
      name: board.name,
      script: installerScript(board),
      programs: ["awk", "cat", "cp", "dd", "mkdir"],
    }),
    mode: 0o755,
  });
  tree.set(`profiles/${board.name}.yaml`, text(PROFILE));
  for (const [path, node] of await board.artifacts(arm64)) tree.set(`artifacts/${path}`, node);
  return tree;
}

const PROFILE = `arch: arm64
platform: metal
secureboot: false
output:
  kind: image
  imageOptions:
    diskSize: 1306525696
    diskFormat: raw
    bootloader: grub
  outFormat: .xz
`;

/** Reads YAML scalars, quoted scalars and block texts by key: enough for what an imager writes to an installer. */
const READ_VALUE = `
value() {
  printf '%s\\n' "$input" | awk -v key="$1" '
    block { match($0, /^ */)
      if ($0 ~ /^ *$/) { print ""; next }
      if (indent < 0) indent = RLENGTH
      if (RLENGTH < indent) exit
      print substr($0, indent + 1); next }
    { line = $0; sub(/^ +/, "", line)
      if (index(line, key ":") == 1) {
        rest = substr(line, length(key) + 2); sub(/^ +/, "", rest)
        if (rest ~ /^[|>][-+]?$/) { block = 1; indent = -1; next }
        if (rest ~ /^".*"$/) { rest = substr(rest, 2, length(rest) - 2)
          gsub(/\\\\n/, "\\n", rest); gsub(/\\\\"/, "\\"", rest); gsub(/\\\\\\\\/, "\\\\", rest) }
        else if (rest ~ /^\\047.*\\047$/) { rest = substr(rest, 2, length(rest) - 2); gsub(/\\047\\047/, "\\047", rest) }
        print rest; exit } }'
}`;

function installerScript(board: Board): string {
  const options = [
    `name: ${board.name}`,
    "kernelArgs:",
    ...board.kernelArgs.map((argument) => `  - ${argument}`),
    "partitionOptions:",
    `  offset: ${board.offset}`,
  ];
  return `
set -e
input=$(cat)
${READ_VALUE}
option() { value "$1"; }
case "$1" in
  get-options)
    [ -n "$input" ] || { echo "no options on standard input" >&2; exit 1; }
    cat <<'END'
${options.join("\n")}
END
    ;;
  install)
    disk=$(value installDisk)
    artifacts=$(value artifactsPath)
    boot=$(value mountPrefix)/boot/EFI
    mkdir -p "$boot"${board.install}
    ;;
  *)
    echo "unknown verb $1" >&2
    exit 1
    ;;
esac
`;
}

async function raspberryArtifacts(arm64: DebianTrees): Promise<Tree> {
  const uboot = join(requirePackage(arm64, "u-boot-rpi"), "usr/lib/u-boot/rpi_arm64/u-boot.bin");
  const firmware = join(requirePackage(arm64, "raspi-firmware"), "usr/lib/raspi-firmware");
  return new Map([
    ["arm64/u-boot/rpi_generic/u-boot.bin", await copyOf(uboot)],
    ["arm64/firmware/boot/bootcode.bin", await copyOf(join(firmware, "bootcode.bin"))],
    ["arm64/firmware/boot/fixup4.dat", await copyOf(join(firmware, "fixup4.dat"))],
    ["arm64/firmware/boot/config.txt", text("arm_64bit=1\nenable_uart=1\nkernel=u-boot.bin\n")],
  ]);
}

/** Sector where the second stage of a Rockchip boot loader lies; the first lies at 64. */
const ROCKCHIP_SECOND_STAGE = 16_384;

async function rockchipArtifacts(arm64: DebianTrees): Promise<Tree> {
  const dir = join(requirePackage(arm64, "u-boot-rockchip"), "usr/lib/u-boot/rock-pi-4-rk3399");
  const first = await readFile(join(dir, "idbloader.img"));
  const second = await readFile(join(dir, "u-boot.itb"));
  const gap = (ROCKCHIP_SECOND_STAGE - 64) * 512 - first.length;
  return new Map([
    [
      "arm64/u-boot/rock4cplus/u-boot-rockchip.bin",
      { bytes: Buffer.concat([first, Buffer.alloc(gap), second]) },
    ],
    ["arm64/dtb/rockchip/rk3399-rock-4c-plus.dtb", await copyOf(join(dir, "rk3399-rock-pi-4b.dtb"))],
  ]);
}
