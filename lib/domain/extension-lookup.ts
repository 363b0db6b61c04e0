/** Finds the extensions and overlays that a schematic names in the catalog of a release. */
import { invalidInput } from "../errors/app-error.ts";
import { BOARDS, FIRST_BOARD_VERSION } from "./boards.ts";
import { quoteText, shownName } from "./quote.ts";
import type { CatalogExtension, CatalogOverlay, Release } from "./release.ts";
import { compareVersions } from "./versions.ts";

/** Names of the past and what they are called now, below siderolabs/. Tried in order, after the exact name. */
const ALIASES: Record<string, readonly string[]> = {
  "v4l-uvc": ["v4l-uvc-drivers"],
  "usb-modem": ["usb-modem-drivers"],
  gasket: ["gasket-driver"],
  "talos-vmtoolsd": ["vmtoolsd-guest-agent"],
  "xe-guest-utilities": ["xen-guest-agent"],
  "nvidia-container-toolkit": ["nvidia-container-toolkit-lts"],
  "nvidia-open-gpu-kernel-modules": ["nvidia-open-gpu-kernel-modules-lts"],
  "nonfree-kmod-nvidia": ["nonfree-kmod-nvidia-lts"],
  // The first is what the public service looks for, the second is what catalogs hold.
  "nvidia-fabricmanager": ["nvidia-fabric-manager-lts", "nvidia-fabricmanager-lts"],
  "i915-ucode": ["i915"],
  "amdgpu-firmware": ["amdgpu"],
};

const NAMESPACE = "siderolabs/";

/** The names under which an extension may be listed, the written one first. */
export function extensionNames(name: string): string[] {
  const short = name.startsWith(NAMESPACE) ? name.slice(NAMESPACE.length) : null;
  if (short === null || !Object.hasOwn(ALIASES, short)) return [name];
  return [name, ...(ALIASES[short] ?? []).map((alias) => NAMESPACE + alias)];
}

/** The names of the past that lead to this one, in byte order. */
export function formerNames(name: string): string[] {
  const old = Object.keys(ALIASES).filter((short) => extensionNames(NAMESPACE + short).includes(name));
  return old
    .map((short) => NAMESPACE + short)
    .filter((former) => former !== name)
    .sort();
}

/** The catalog entry for a name in a schematic, old names included; null when the release has none. */
export function findExtension(catalog: readonly CatalogExtension[], name: string): CatalogExtension | null {
  for (const candidate of extensionNames(name)) {
    const entry = catalog.find((extension) => extension.name === candidate);
    if (entry !== undefined) return entry;
  }
  return null;
}

function extensionHint(release: Release, name: string): string {
  const written = name.slice(name.lastIndexOf("/") + 1);
  const near = release.extensions.filter((extension) => {
    const short = extension.name.slice(extension.name.lastIndexOf("/") + 1);
    return written !== "" && (short.includes(written) || written.includes(short));
  });
  const list = `GET /version/${release.version}/extensions/official lists all names.`;
  if (near.length === 0 && name.includes("/") && !name.startsWith(NAMESPACE))
    return `No own extension of that name is in use for ${release.version}; the page /extensions shows those there are. ${list}`;
  if (near.length === 0) return `Names look like "siderolabs/qemu-guest-agent". ${list}`;
  const names = near.slice(0, 3).map((extension) => quoteText(extension.name));
  return `Did you mean ${names.join(" or ")}? ${list}`;
}

/** More than any catalog has; each one, repeats too, is a step of the build and a file in the initramfs. */
const MOST_EXTENSIONS = 200;

/** Throws invalid_input naming the number when there are more extensions than files are made with. */
export function refuseTooManyExtensions(names: readonly string[]): void {
  if (names.length <= MOST_EXTENSIONS) return;
  throw invalidInput(
    `the schematic lists ${names.length} system extensions, files are made with at most ${MOST_EXTENSIONS}`,
    { hint: "List each extension once, and only those the machine needs." },
  );
}

/** Catalog entries in the order of the schematic. Throws invalid_input naming the first one that is missing, or for too many. */
export function requireExtensions(release: Release, names: readonly string[]): CatalogExtension[] {
  refuseTooManyExtensions(names);
  return names.map((name) => {
    const entry = findExtension(release.extensions, name);
    if (entry !== null) return entry;
    throw invalidInput(
      `official extension ${quoteText(shownName(name))} is not available for Talos version ${release.version}`,
      {
        hint: extensionHint(release, name),
        details: { extension: shownName(name), version: release.version },
      },
    );
  });
}

/** Says from which version on there is a known board, and what the release has. */
function overlayHint(release: Release, name: string): string {
  const names = release.overlays.map((overlay) => overlay.name);
  const offered =
    names.length === 0
      ? "This release offers no overlays."
      : `Overlays of this release: ${names.join(", ")}.`;
  const board = BOARDS.find(({ overlayName }) => overlayName === name);
  const first = board?.minVersion ?? FIRST_BOARD_VERSION;
  const isNewer = board !== undefined && compareVersions(first, release.version) > 0;
  return isNewer ? `The board ${board.label} is offered from Talos ${first} on. ${offered}` : offered;
}

/** The overlay with this name; its image is taken from the catalog. Throws invalid_input naming it when missing. */
export function requireOverlay(release: Release, name: string): CatalogOverlay {
  const entry = release.overlays.find((overlay) => overlay.name === name);
  if (entry !== undefined) return entry;
  throw invalidInput(
    `official overlay ${quoteText(shownName(name))} is not available for Talos version ${release.version}`,
    {
      hint: overlayHint(release, name),
      details: { overlay: shownName(name), version: release.version },
    },
  );
}
