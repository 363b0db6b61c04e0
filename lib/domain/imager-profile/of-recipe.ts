/** From a recipe back to a profile: what an imager that runs on its own is told to make. */
import { quirks } from "../quirks.ts";
import type { Recipe } from "../recipe-types.ts";
import type { ImagerProfile, SecureBootInput } from "./types.ts";

/** Where the imager finds what was brought for it. Folders hold OCI layouts. */
export interface ProfilePlaces {
  kernel?: string;
  initramfs?: string;
  sdStub?: string;
  sdBoot?: string;
  baseInstaller?: string;
  /** The board's overlay for the machine that builds, and for the machine that boots. */
  overlay?: string;
  overlayInstaller?: string;
  /** In the order of the recipe. */
  extensions: string[];
  /** Tar of the extension that names the schematic. */
  schematic?: string;
  /** Folder with the keys that sign, under the names imagers look for. */
  keys: string;
}

type Input = NonNullable<ImagerProfile["input"]>;
type Output = NonNullable<ImagerProfile["output"]>;

/** The profile of a recipe, without its embedded configuration, which is secret. Equal recipes give equal profiles. */
export function recipeProfile(recipe: Recipe, places: ProfilePlaces): ImagerProfile {
  const { version, profile, extraKernelArgs, meta, overlay } = recipe;
  return {
    arch: profile.arch,
    platform: profile.platform,
    secureboot: profile.secureboot,
    version,
    customization: {
      ...(extraKernelArgs.length === 0 ? {} : { extraKernelArgs }),
      ...(meta.length === 0 ? {} : { metaContents: meta.map(({ key, value }) => ({ key, value })) }),
    },
    input: inputOf(recipe, places),
    ...(overlay === null || places.overlay === undefined
      ? {}
      : {
          overlay: {
            name: overlay.entry.name,
            image: { ociPath: places.overlay },
            ...(Object.keys(overlay.options).length === 0 ? {} : { options: overlay.options }),
          },
        }),
    output: outputOf(recipe),
  };
}

function inputOf(recipe: Recipe, places: ProfilePlaces): Input {
  const file = <K extends keyof Input>(name: K, path: string | undefined) =>
    path === undefined ? {} : { [name]: { path } };
  const image = <K extends keyof Input>(name: K, ociPath: string | undefined) =>
    ociPath === undefined ? {} : { [name]: { ociPath } };
  const extensions = [
    ...places.extensions.map((ociPath) => ({ ociPath })),
    ...(places.schematic === undefined ? [] : [{ tarballPath: places.schematic }]),
  ];
  return {
    ...file("kernel", places.kernel),
    ...file("initramfs", places.initramfs),
    ...file("sdStub", places.sdStub),
    ...file("sdBoot", places.sdBoot),
    ...image("baseInstaller", places.baseInstaller),
    ...image("overlayInstaller", places.overlayInstaller),
    ...(extensions.length === 0 ? {} : { systemExtensions: extensions }),
    ...(recipe.profile.secureboot ? { secureboot: secureBootOf(recipe, places.keys) } : {}),
  };
}

function secureBootOf({ signing, includeWellKnownCertificates }: Recipe, keys: string): SecureBootInput {
  const databases = signing?.databases === null || signing === undefined ? null : keys;
  return {
    secureBootSigner: { keyPath: `${keys}/uki-signing-key.pem`, certPath: `${keys}/uki-signing-cert.pem` },
    pcrSigner: { keyPath: `${keys}/pcr-signing-key.pem` },
    ...(databases === null
      ? {}
      : {
          platformKeyPath: `${databases}/PK.auth`,
          keyExchangeKeyPath: `${databases}/KEK.auth`,
          signatureKeyPath: `${databases}/db.auth`,
        }),
    ...(includeWellKnownCertificates ? { includeWellKnownCerts: true } : {}),
  };
}

function outputOf(recipe: Recipe): Output {
  const { profile, bootloader, sectorSize, enrollKeys, version } = recipe;
  const { kind, outFormat, disk, secureboot } = profile;
  const options = {
    ...(bootloader === null ? {} : { bootloader }),
    ...(secureboot ? { sdBootEnrollKeys: enrollKeys } : {}),
  };
  if (kind === "iso" && (quirks(version).isoBootloader || secureboot))
    return { kind, outFormat, isoOptions: options };
  if (kind !== "image" || disk === undefined) return { kind, outFormat };
  return {
    kind,
    outFormat,
    imageOptions: {
      // The imager adds what the release needs.
      diskSize: disk.sizeBytes,
      diskFormat: disk.format,
      ...(disk.formatOptions === "" ? {} : { diskFormatOptions: disk.formatOptions }),
      ...(sectorSize === 512 ? {} : { diskSectorSize: sectorSize }),
      ...options,
    },
  };
}
