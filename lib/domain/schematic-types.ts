/** The schematic: a small document describing how a stock image is altered. docs/schematics.md has the rules. */

export type SchematicBootloader = "dual-boot" | "sd-boot" | "grub";

/** A value of overlay options as YAML knows it. Nested maps keep typed keys, so they are Maps. */
export type OptionValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | { timestamp: string }
  | OptionValue[]
  | Map<OptionValue, OptionValue>;

export interface Schematic {
  owner?: string;
  overlay?: { image: string; name: string; options?: Map<string, OptionValue> };
  customization: {
    embeddedMachineConfiguration?: string;
    extraKernelArgs?: string[];
    meta?: { key: number; value: string }[];
    systemExtensions?: { officialExtensions: string[] };
    bootloader?: SchematicBootloader;
    secureboot?: { enrollKeys?: string; includeWellKnownCertificates?: boolean };
    diskImage?: { sectorSize: bigint };
  };
}
