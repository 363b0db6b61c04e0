/** Checks of what stands at the top of an extension: manifest.yaml and rootfs, and what the manifest says. */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseVersionLeniently } from "../../domain/versions.ts";
import { isAppError } from "../../errors/is-app-error.ts";
import { type ExtensionMetadata, parseExtensionManifest } from "../../formats/extension-manifest.ts";
import { isInVersionRange } from "../../formats/version-range.ts";
import type { Findings } from "./findings.ts";
import type { CheckedRelease } from "./types.ts";

const MANIFEST = "manifest.yaml";
/** Its texts are shown wherever extensions are listed. */
const MOST_MANIFEST = 16 * 1024;
const NAME = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

export interface Layout {
  metadata: ExtensionMetadata | null;
  hasRootfs: boolean;
}

/** Looks at the top folder and reads the manifest. */
export async function checkLayout(
  dir: string,
  release: CheckedRelease | null,
  findings: Findings,
): Promise<Layout> {
  const names = (await readdir(dir)).sort();
  for (const name of names)
    if (name !== MANIFEST && name !== "rootfs")
      findings.error("layout-unexpected", `${name} stands beside manifest.yaml and rootfs`, {
        path: name,
        hint: "An extension holds exactly manifest.yaml and rootfs; whatever belongs on the machine goes below rootfs.",
      });
  const rootfs = await lstat(join(dir, "rootfs")).catch(() => null);
  const hasRootfs = rootfs?.isDirectory() === true;
  if (!hasRootfs)
    findings.error("layout-rootfs", "There is no folder rootfs", {
      path: "rootfs",
      hint: "Put the files of the extension below rootfs, at the places where the machine shall have them.",
    });
  return { metadata: await readManifest(dir, release, findings), hasRootfs };
}

async function readManifest(
  dir: string,
  release: CheckedRelease | null,
  findings: Findings,
): Promise<ExtensionMetadata | null> {
  const file = join(dir, MANIFEST);
  const stats = await lstat(file).catch(() => null);
  if (stats?.isFile() !== true) {
    findings.error("layout-manifest", "There is no file manifest.yaml", {
      path: MANIFEST,
      hint: "casthouse extension new writes one to start from.",
    });
    return null;
  }
  if (stats.size > MOST_MANIFEST) {
    findings.error("manifest-yaml", "manifest.yaml is larger than 16 KiB", { path: MANIFEST });
    return null;
  }
  try {
    const metadata = parseExtensionManifest(await readFile(file, "utf8"));
    checkFields(metadata, findings);
    checkConstraint(metadata.compatibility.talos.version, release, findings);
    return metadata;
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { hint, details } = error.extra;
    const reason = typeof details?.reason === "string" ? `: ${details.reason.split("\n")[0]}` : "";
    const code = error.message.startsWith("unsupported") ? "manifest-version" : "manifest-yaml";
    findings.error(code, `${error.message}${reason}`, {
      path: MANIFEST,
      ...(hint === undefined ? {} : { hint }),
    });
    return null;
  }
}

function checkFields(metadata: ExtensionMetadata, findings: Findings): void {
  const { name, version, author, description } = metadata;
  const path = MANIFEST;
  const missing = (field: string, why: string) => `manifest.yaml has no ${field}; ${why}`;
  if (name.trim() === "")
    findings.error("manifest-name", missing("metadata.name", "nobody could tell what this is"), { path });
  else if (!NAME.test(name) || name.length > 63)
    // The name in schematics is chosen when the extension is sent; this one is only shown.
    findings.warning(
      "manifest-name-signs",
      `metadata.name is ${JSON.stringify(name)}, which tools may not read`,
      {
        path,
        hint: "Use lower-case letters and digits, with single dots, dashes or underscores between them.",
      },
    );
  if (version.trim() === "")
    findings.error("manifest-field", missing("metadata.version", "versions could not be told apart"), {
      path,
      hint: 'For example version: "1.0.0".',
    });
  for (const [field, value] of Object.entries({ author, description }))
    if (value.trim() === "")
      findings.warning("manifest-text", `manifest.yaml has no metadata.${field}`, {
        path,
        hint: "It is shown to whoever chooses extensions.",
      });
}

function checkConstraint(range: string, release: CheckedRelease | null, findings: Findings): void {
  const path = MANIFEST;
  if (range === "") {
    findings.hint("constraint-open", "The extension says it fits every Talos release", {
      path,
      hint: 'Name the releases it was made for: metadata.compatibility.talos.version: ">= v1.10.0".',
    });
    return;
  }
  if (isInVersionRange(range, { major: 1, minor: 0, patch: 0 }) === null) {
    findings.error("constraint-unreadable", `${JSON.stringify(range)} is no range of Talos versions`, {
      path,
      hint: 'Write ">= v1.10.0 < v1.14.0", "1.13.x", or leave it empty for all.',
    });
    return;
  }
  const version = release === null ? null : parseVersionLeniently(release.version);
  if (release === null || version === null || isInVersionRange(range, version) === true) return;
  findings.error("constraint-mismatch", `The extension is for Talos ${range}, not for ${release.version}`, {
    path,
    hint: "Choose a version of the extension that is made for this release, or widen the range once it was tried.",
  });
}
