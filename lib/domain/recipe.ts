/** Joins asset profile, schematic, version rules and catalog into the recipe that a build plan is made from. */
import { AppError, invalidInput, notFound } from "../errors/app-error.ts";
import type { AssetKind, AssetProfile } from "./asset.ts";
import { diskSize, refuseDualBoot, resolveBootloader } from "./boot-rules.ts";
import { requireExtensions, requireOverlay } from "./extension-lookup.ts";
import { checkMetaEnvironment } from "./meta-env.ts";
import { checkMetaPartition } from "./meta-partition.ts";
import { plainOptions } from "./overlay-options.ts";
import { kernelPlatform } from "./platform-arguments.ts";
import { quirks } from "./quirks.ts";
import { quoteText, shownName } from "./quote.ts";
import type { Bootloader, EnrollKeys, MetaValue, Recipe, SigningIdentity } from "./recipe-types.ts";
import type { Release } from "./release.ts";
import type { Schematic } from "./schematic-types.ts";

export interface RecipeRequest {
  profile: AssetProfile;
  /** Tag with "v". */
  version: string;
  schematic: Schematic;
  schematicId: string;
  /** Canonical YAML. */
  schematicText: string;
  release: Release;
  externalUrl: string;
  /** False when the service has no signing keys. Default true. */
  secureBootEnabled?: boolean;
  /** The service's signing keys, for the plan. */
  signing?: SigningIdentity;
  /** What the overlay's own profile asks for; the schematic's choice wins. */
  overlayProfile?: { bootloader?: Bootloader; sectorSize?: number };
}

/** Which parts of a schematic change which kind of file. */
const APPLIES = {
  arguments: ["cmdline", "iso", "image", "uki", "installer"],
  meta: ["cmdline", "iso", "image"],
  /** Extensions, embedded configuration and overlay. */
  contents: ["initramfs", "iso", "uki", "image", "installer"],
  enrollKeys: ["iso", "image"],
  wellKnownCertificates: ["iso", "image", "installer"],
} as const satisfies Record<string, readonly AssetKind[]>;

const applies = (part: keyof typeof APPLIES, kind: AssetKind) =>
  APPLIES[part].some((candidate) => candidate === kind);

const ENROLL_KEYS = ["if-safe", "manual", "force", "off"] as const satisfies readonly EnrollKeys[];

/** Refusals that come from the schematic carry the same words in front as on the public service. */
function enhancing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `error enhancing profile from schematic: ${error.message}`, error.extra);
  }
}

function refuseUnbuildable({ profile, version }: RecipeRequest): void {
  kernelPlatform(profile.platform);
  if (quirks(version).uki) return;
  const newer = { hint: "Choose Talos 1.5.0 or newer." };
  if (profile.secureboot)
    throw invalidInput(`SecureBoot is not supported for Talos version ${version}`, newer);
  if (profile.kind === "uki") {
    throw invalidInput(`unified kernel images are not supported for Talos version ${version}`, newer);
  }
}

function embeddedConfig({ profile, schematic, version }: RecipeRequest): string | null {
  const text = schematic.customization.embeddedMachineConfiguration ?? "";
  if (text === "" || !applies("contents", profile.kind)) return null;
  if (!quirks(version).embeddedConfig) {
    throw invalidInput(`embedding configuration is not supported for Talos version ${version}`, {
      hint: "Choose Talos 1.12.0 or newer, or leave out customization.embeddedMachineConfiguration.",
    });
  }
  return text;
}

type SecureBoot = Pick<Recipe, "enrollKeys" | "includeWellKnownCertificates">;

function parseEnrollKeys(text: string): EnrollKeys {
  const exact = ENROLL_KEYS.find((mode) => mode === text);
  const mode = exact ?? ENROLL_KEYS.find((candidate) => candidate === text.toLowerCase());
  if (mode !== undefined) return mode;
  throw invalidInput(
    `invalid secureboot enrollKeys value ${quoteText(shownName(text))}: ${shownName(text)} does not belong to SDBootEnrollKeys values`,
    { hint: `Use one of ${ENROLL_KEYS.join(", ")}.` },
  );
}

function secureBoot({ profile, schematic, secureBootEnabled = true }: RecipeRequest): SecureBoot {
  if (!profile.secureboot) return { enrollKeys: "off", includeWellKnownCertificates: false };
  if (!secureBootEnabled) {
    throw invalidInput("secure boot is disabled", {
      hint: "The operator of this factory has not configured SecureBoot signing keys.",
    });
  }
  const section = schematic.customization.secureboot ?? {};
  const chosen = section.enrollKeys ?? "";
  const enrollKeys = chosen === "" ? "if-safe" : parseEnrollKeys(chosen);
  return {
    enrollKeys: applies("enrollKeys", profile.kind) ? enrollKeys : "off",
    includeWellKnownCertificates:
      applies("wellKnownCertificates", profile.kind) && (section.includeWellKnownCertificates ?? false),
  };
}

/** The overlay's name, null without one. Any kind of file is refused on a release that knows no overlays. */
function overlayName({ schematic, version }: RecipeRequest): string | null {
  const name = schematic.overlay?.name ?? "";
  if (name === "") return null;
  if (quirks(version).overlays) return name;
  throw invalidInput(`overlay is not supported for Talos version ${version}`, {
    hint: "Choose Talos 1.7.0 or newer, or leave out the overlay.",
  });
}

function baseInstaller({ profile, version, release }: RecipeRequest): Recipe["baseInstaller"] {
  if (profile.kind !== "installer") return null;
  if (release.baseInstaller === null) {
    throw notFound(`failed to get base installer: version ${version.replace(/^v/, "")} is not available`, {
      hint: "The source registry has no installer image for this release.",
    });
  }
  return release.baseInstaller;
}

function extraArguments({ profile, schematic, version }: RecipeRequest): string[] {
  if (!applies("arguments", profile.kind)) return [];
  const embedded = profile.kind === "uki" || profile.kind === "installer";
  if (embedded && !profile.secureboot && !quirks(version).unifiedInstaller) return [];
  return [...(schematic.customization.extraKernelArgs ?? [])];
}

function bootloaderOf(request: RecipeRequest): Bootloader | null {
  const { profile, schematic, version, overlayProfile } = request;
  if (profile.kind !== "image" && !(profile.kind === "iso" && quirks(version).isoBootloader)) return null;
  const chosen = schematic.customization.bootloader ?? overlayProfile?.bootloader ?? null;
  const bootloader = resolveBootloader(
    { version, arch: profile.arch, secureboot: profile.secureboot },
    chosen,
  );
  if (profile.kind === "image") refuseDualBoot(bootloader, profile.arch);
  if (bootloader !== "grub" && !quirks(version).uki) {
    throw invalidInput(`bootloader ${bootloader} is not supported for Talos version ${version}`, {
      hint: 'Use "grub", or Talos 1.5.0 or newer.',
    });
  }
  return bootloader;
}

function sectorSize({ profile, schematic, overlayProfile }: RecipeRequest): number {
  if (profile.kind !== "image") return 512;
  const written = schematic.customization.diskImage?.sectorSize ?? 0n;
  const size = written === 0n ? BigInt(overlayProfile?.sectorSize ?? 0) : written;
  if (size === 0n || size === 512n) return 512;
  if (size === 4096n) return 4096;
  throw invalidInput(`diskImage.sectorSize ${size} is not supported`, { hint: "Use 512 or 4096." });
}

function metaOf({ profile, schematic }: RecipeRequest, bootloader: Bootloader | null): MetaValue[] {
  if (!applies("meta", profile.kind)) return [];
  const meta = (schematic.customization.meta ?? []).map(({ key, value }) => ({ key, value }));
  if (profile.kind === "image") checkMetaPartition(meta, bootloader);
  else checkMetaEnvironment(meta);
  return meta;
}

function diskBytes({ profile, version }: RecipeRequest, bootloader: Bootloader | null): number | null {
  if (profile.kind !== "image" || bootloader === null) return null;
  if (profile.disk === undefined || profile.disk.sizeBytes <= 0)
    throw invalidInput("a disk image needs a disk size");
  return diskSize(profile.disk.sizeBytes, version, bootloader);
}

/** The checks run in the order in which the public service reports them. */
function fromSchematic(request: RecipeRequest) {
  const { profile, schematic, release } = request;
  const config = embeddedConfig(request);
  const secure = secureBoot(request);
  const board = overlayName(request);
  const installer = baseInstaller(request);
  const names = schematic.customization.systemExtensions?.officialExtensions ?? [];
  const hasContents = applies("contents", profile.kind);
  const extensions = hasContents ? requireExtensions(release, names) : [];
  const overlay =
    hasContents && board !== null
      ? { entry: requireOverlay(release, board), options: plainOptions(schematic.overlay?.options) }
      : null;
  const bootloader = bootloaderOf(request);
  return {
    ...secure,
    baseInstaller: installer,
    extensions,
    overlay,
    embeddedConfig: config,
    extraKernelArgs: extraArguments(request),
    bootloader,
    sectorSize: sectorSize(request),
    meta: metaOf(request, bootloader),
    diskSizeBytes: diskBytes(request, bootloader),
  };
}

/**
 * The recipe for one asset. Pure: the same request gives the same recipe. Throws invalid_input for an unknown
 * platform, an unsupported combination or a schematic the release cannot serve, not_found when the source has no
 * base installer. docs/compat.md lists where the words differ from the public service.
 */
export function resolveRecipe(request: RecipeRequest): Recipe {
  refuseUnbuildable(request);
  return {
    version: request.version,
    profile: request.profile,
    schematicId: request.schematicId,
    schematicText: request.schematicText,
    externalUrl: request.externalUrl,
    imager: request.release.imager,
    sample: request.release.sample,
    ...(request.profile.secureboot && request.signing ? { signing: request.signing } : {}),
    ...enhancing(() => fromSchematic(request)),
  };
}
