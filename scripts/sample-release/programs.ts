/** The smaller images of the sample: base installers, talosctl downloads, the bill of materials, a third-party extension. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { requirePackage } from "./base.ts";
import { type Call, carrierProgram, scriptProgram } from "./carrier.ts";
import type { DebianTrees } from "./debian.ts";
import { SAMPLE_EPOCH, type SampleRelease } from "./releases.ts";
import { type Tree, text } from "./tree.ts";

/** Settings of the installer image's configuration. */
export const INSTALLER_SETTINGS = {
  Entrypoint: ["/bin/installer"],
  Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  WorkingDir: "/",
};

/** Program layer of an installer image: one static program that says what it was given. */
export async function installerTree(release: SampleRelease, arch: Arch, debian: DebianTrees): Promise<Tree> {
  const busybox = await readFile(join(requirePackage(debian, "busybox-static"), "bin/busybox"));
  const script = `
echo "casthouse-sample: installer ${release.tag} for ${arch}, not Talos Linux"
find /usr/install /overlay -type f 2>/dev/null | sort`;
  return new Map([
    ["bin/installer", { bytes: scriptProgram(arch, busybox, "installer", script), mode: 0o755 }],
  ]);
}

const TALOSCTL_FILES = [
  "talosctl-darwin-amd64",
  "talosctl-darwin-arm64",
  "talosctl-freebsd-amd64",
  "talosctl-freebsd-arm64",
  "talosctl-linux-amd64",
  "talosctl-linux-arm64",
  "talosctl-linux-armv7",
  "talosctl-windows-amd64.exe",
  "talosctl-windows-arm64.exe",
];

/** Files of the talosctl image. Those for Linux on our architectures run and say what they are. */
export function talosctlTree(release: SampleRelease): Tree {
  const tree: Tree = new Map();
  for (const name of TALOSCTL_FILES) {
    const words = `${name} ${release.tag}: Casthouse sample, not talosctl\n`;
    const arch = name === "talosctl-linux-amd64" ? "amd64" : name === "talosctl-linux-arm64" ? "arm64" : null;
    // Clients take a program of a few bytes for an error message, hence the repetition.
    const content = arch
      ? { bytes: carrierProgram(arch, sayCalls(words)), mode: 0o755 }
      : text(words.repeat(40), 0o755);
    tree.set(name, content);
  }
  return tree;
}

const sayCalls = (words: string): Call[] => [
  { name: "write", args: [1, { bytes: Buffer.from(words) }, Buffer.byteLength(words)] },
  { name: "exit", args: [0] },
];

/** SPDX 2.3 document naming the Debian packages the sample was made of. */
export function billOfMaterials(release: SampleRelease, versions: string[]): string {
  const packages = versions.map((entry, index) => {
    const [name = "", version = ""] = entry.split("=");
    return {
      SPDXID: `SPDXRef-Package-${index}`,
      name,
      versionInfo: version,
      downloadLocation: "NOASSERTION",
    };
  });
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `casthouse-sample-${release.tag}`,
    documentNamespace: `urn:casthouse:sample:${release.tag}`,
    creationInfo: {
      created: new Date(SAMPLE_EPOCH * 1000).toISOString(),
      creators: ["Tool: casthouse-sample"],
    },
    packages,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Layers of an extension as a third party would push it: not in any catalog, amd64 only, with a file that a later layer
 * removes (OCI image-spec "whiteouts"), a hard link and a symbolic link.
 */
export function probeLayers(): Tree[] {
  const share = "rootfs/usr/local/share/casthouse-probe";
  return [
    new Map([
      [`${share}/removed`, text("a later layer removes this\n")],
      [`${share}/original`, text("one file, two names\n")],
      [`${share}/second-name`, { hardlink: `${share}/original` }],
      [`${share}/pointer`, { symlink: "original" }],
    ]),
    new Map([
      ["manifest.yaml", text(PROBE_MANIFEST)],
      [`${share}/.wh.removed`, text("")],
      [`${share}/added`, text("from the second layer\n")],
    ]),
  ];
}

const PROBE_MANIFEST = `version: v1alpha1
metadata:
  name: casthouse-probe
  version: 1.0.0
  author: Casthouse sample
  description: |
    Casthouse sample: an extension that is in no catalog.
  compatibility:
    talos:
      version: ">= v1.8.0"
`;
