/** Which function does which operation of a plan. */
import type { OpName } from "../ops.ts";
import type { StepFunction } from "../types.ts";
import { bankDigestsStep } from "./bank-digests.ts";
import { bootImage } from "./boot-image.ts";
import { boardCommandLineStep, commandLineStep } from "./command-line.ts";
import { copyStep } from "./copy.ts";
import { diskEsp } from "./disk-esp.ts";
import { diskImage } from "./disk-image.ts";
import { enrollmentStep } from "./enrollment.ts";
import { extensionStep } from "./extension.ts";
import { grubCore } from "./grub-core.ts";
import { grubIsoStep } from "./grub-iso.ts";
import { imagerContainerStep } from "./imager-container.ts";
import { initramfsStep } from "./initramfs.ts";
import { installerContentsStep } from "./installer-contents.ts";
import { installerArchiveStep, installerManifestStep } from "./installer-image.ts";
import { installerLayerStep } from "./installer-layer.ts";
import { isoStep } from "./iso.ts";
import { embeddedConfigStep, schematicExtensionStep } from "./made-extensions.ts";
import { moduleIndexStep } from "./module-index.ts";
import { ova } from "./ova.ts";
import { overlayInstallStep } from "./overlay-install.ts";
import { overlayLayerStep } from "./overlay-layer.ts";
import { overlayOptionsStep } from "./overlay-options.ts";
import { packed, packedPart } from "./packed.ts";
import { qcow2 } from "./qcow2.ts";
import { schematicArchiveStep } from "./schematic-archive.ts";
import { signEfiStep } from "./sign-efi.ts";
import { stockModulesStep } from "./stock-modules.ts";
import { ukiStep } from "./uki.ts";

/** Every operation has its function; a missing one does not compile. */
export const STEPS: Readonly<Record<OpName, StepFunction>> = {
  copy: copyStep,
  "command-line": commandLineStep,
  "board-command-line": boardCommandLineStep,
  extension: extensionStep,
  "schematic-extension": schematicExtensionStep,
  "embedded-config": embeddedConfigStep,
  "stock-modules": stockModulesStep,
  "module-index": moduleIndexStep,
  initramfs: initramfsStep,
  uki: ukiStep,
  "bank-digests": bankDigestsStep,
  "sign-efi": signEfiStep,
  enrollment: enrollmentStep,
  "grub-iso": grubIsoStep,
  iso: isoStep,
  "overlay-options": overlayOptionsStep,
  "overlay-install": overlayInstallStep,
  "disk-esp": diskEsp,
  "boot-image": bootImage,
  "grub-core": grubCore,
  "disk-image": diskImage,
  qcow2,
  ova,
  packed,
  "packed-part": packedPart,
  "installer-layer": installerLayerStep,
  "overlay-layer": overlayLayerStep,
  "installer-archive": installerArchiveStep,
  "installer-manifest": installerManifestStep,
  "schematic-archive": schematicArchiveStep,
  "imager-container": imagerContainerStep,
  "installer-contents": installerContentsStep,
};

const BY_NAME = new Map<string, StepFunction>(Object.entries(STEPS));

/** The function of an operation, null for a name that no plan of this version uses. */
export const findStep = (op: string): StepFunction | null => BY_NAME.get(op) ?? null;
