/** Every operation a plan may name, with the version that goes into its content key. */

/**
 * Raise a number when the bytes of that step change for equal params and inputs: cached parts made by the
 * older code are then no longer found, and assets built from them get new keys.
 */
export const OP_VERSIONS = {
  // boot files
  copy: 1,
  "command-line": 1,
  "board-command-line": 1,
  extension: 2,
  "schematic-extension": 2,
  "embedded-config": 2,
  "stock-modules": 1,
  "module-index": 2,
  initramfs: 2,
  uki: 1,
  // SecureBoot
  "bank-digests": 1,
  "sign-efi": 1,
  enrollment: 1,
  // more boot files
  "grub-iso": 2,
  iso: 2,
  // boards
  "overlay-options": 1,
  "overlay-install": 1,
  // disk images
  "disk-esp": 1,
  "boot-image": 2,
  "grub-core": 2,
  "disk-image": 2,
  qcow2: 1,
  ova: 1,
  packed: 2,
  "packed-part": 2,
  // installers
  "installer-layer": 1,
  "overlay-layer": 1,
  "installer-archive": 1,
  "installer-manifest": 1,
  // the container engine
  "schematic-archive": 1,
  "imager-container": 1,
  "installer-contents": 1,
} as const satisfies Record<string, number>;

export type OpName = keyof typeof OP_VERSIONS;
