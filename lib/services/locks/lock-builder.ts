/** What besides a plan's inputs decides bytes on this machine: operations, tools, GRUB, keys. */
import { readFile } from "node:fs/promises";
import type { LockBuilder } from "../../domain/model-lock.ts";
import type { SigningIdentity } from "../../domain/recipe-types.ts";
import { TOOLS } from "../../exec/tools.ts";
import { OP_VERSIONS } from "../../imager/ops.ts";

const PACKAGES = "/var/lib/dpkg/status";
/** They only start or lock up other programs. */
const WITHOUT_BYTES = ["bubblewrap", "util-linux"];

/** Read once at start. Without dpkg only Node's own compressor is known of the tools. */
export async function readLockBuilder(options: {
  externalUrl: string;
  grub: Readonly<Record<string, string>>;
  secureBoot: SigningIdentity | null;
  packagesFile?: string;
}): Promise<LockBuilder> {
  const { externalUrl, grub, secureBoot, packagesFile = PACKAGES } = options;
  const packages = await readFile(packagesFile, "utf8").catch(() => "");
  const wanted = new Set<string>(Object.values(TOOLS).filter((name) => !WITHOUT_BYTES.includes(name)));
  return {
    externalUrl,
    operations: { ...OP_VERSIONS },
    tools: { ...packageVersions(packages, wanted), "node-zlib": process.versions.zlib ?? "unknown" },
    grub: { ...grub },
    secureBoot: secureBoot && { ...secureBoot },
  };
}

/** Versions of installed packages in a dpkg status file (deb-control(5) paragraphs). */
export function packageVersions(status: string, wanted: ReadonlySet<string>): Record<string, string> {
  const found: [string, string][] = [];
  for (const paragraph of status.split("\n\n")) {
    const field = (name: string) => new RegExp(`^${name}: *(.*)$`, "m").exec(paragraph)?.[1];
    const [name, version] = [field("Package"), field("Version")];
    if (name === undefined || version === undefined || !wanted.has(name)) continue;
    if (field("Status")?.endsWith(" installed")) found.push([name, version]);
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}
