/** Command lines for xorriso that lay out the three kinds of ISO. */

export const ISO_VARIANTS = ["grub", "hybrid", "uefi"] as const;
/** grub: GRUB for BIOS and EFI. hybrid: GRUB for BIOS, systemd-boot for EFI. uefi: systemd-boot alone. */
export type IsoVariant = (typeof ISO_VARIANTS)[number];

export interface IsoDescription {
  variant: IsoVariant;
  out: string;
  /** Path in the ISO and file or folder on disk, in the order in which content is stored. */
  grafts: { path: string; source: string }[];
  /** File with one line per stored file, "weight path": libisofs otherwise stores in the order of inode numbers. */
  weights: string;
  /** Image of the EFI system partition; null for variant grub, which has its own FAT image in the tree. */
  esp: string | null;
  /** First sectors for USB sticks, for variants with GRUB for BIOS; null for those without. */
  hybridMbr: string | null;
  /** BIOS boot image inside the ISO, for variants with GRUB. */
  elToritoPath: string;
  /** YYYYMMDDhhmmsscc, also the seed of all GPT GUIDs. */
  date: string;
  /** The same moment in seconds since 1970. */
  epoch: number;
  /** True: signed files, which only their owner may read in the ISO's tree. */
  signed: boolean;
  /** Null for releases whose ISOs carry no name. */
  label: { volumeId: string; volumeSetId: string } | null;
}

const escapeGraft = (path: string): string => path.replace(/[\\=]/g, (character) => `\\${character}`);

/** BIOS boot image and the master boot record that starts it from a stick. */
const bios = (elToritoPath: string, hybridMbr: string): string[] => [
  ...["-b", elToritoPath, "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table", "--grub2-boot-info"],
  ...["--grub2-mbr", hybridMbr],
];

/** The ESP as an appended partition that is at the same time the EFI boot image; nothing is stored twice. */
const appendedEsp = (esp: string): string[] => [
  ...["-e", "--interval:appended_partition_2:all::", "-append_partition", "2", "0xef", esp],
  ...[
    "-partition_cyl_align",
    "all",
    "-partition_offset",
    "16",
    "-iso_mbr_part_type",
    "0x83",
    "-no-emul-boot",
  ],
];

/** An HFS+ view for old Macs, which have a PC's processor. */
const HFS_VIEW = ["-hfsplus", "-apm-block-size", "2048", "-hfs-bless-by", "i"].concat(
  "/System/Library/CoreServices/boot.efi",
);

/** EFI boot from a FAT image inside the tree. */
const EFI_IN_TREE = [
  "--efi-boot",
  "efi.img",
  "-efi-boot-part",
  "--efi-boot-image",
  "--protective-msdos-label",
];

/** Owner root and fixed permissions, whatever the files on disk have. */
const modes = (folder: string, file: string): string[] => [
  ...["-uid", "0", "-gid", "0", "-dir-mode", folder, "-file-mode", file],
];

function layoutArguments(iso: IsoDescription): string[] {
  const esp = iso.esp ?? "";
  const forBios = iso.hybridMbr === null ? [] : bios(iso.elToritoPath, iso.hybridMbr);
  switch (iso.variant) {
    case "grub":
      return [
        ...forBios,
        ...(iso.hybridMbr === null ? [] : HFS_VIEW),
        ...EFI_IN_TREE,
        ...modes("0555", "0444"),
      ];
    case "hybrid":
      return [
        ...forBios,
        "--protective-msdos-label",
        ...modes("0555", "0444"),
        "-eltorito-alt-boot",
        "-appended_part_as_gpt",
        ...appendedEsp(esp),
      ];
    case "uefi":
      return [...appendedEsp(esp), ...modes("0755", iso.signed ? "0600" : "0644")];
  }
}

/** Arguments for the program xorriso (GNU xorriso 1.5, mkisofs emulation and native commands). */
export function xorrisoArguments(iso: IsoDescription): string[] {
  return [
    ...["-as", "mkisofs", "-quiet", "-graft-points", "-iso-level", "3", `--modification-date=${iso.date}`],
    ...layoutArguments(iso),
    ...["--sort-weight-list", iso.weights, "-o", iso.out],
    ...iso.grafts.map(({ path, source }) => `${escapeGraft(path)}=${escapeGraft(source)}`),
    "--",
    ...(iso.signed ? ["-chmod", "0644", "/loader/loader.conf", "--"] : []),
    ...(iso.variant === "uefi" ? ["-chmod", "0444", "/loader/random-seed", "--"] : []),
    ...["-volume_date", "all_file_dates", `=${iso.epoch}`, "-volume_date", "uuid", iso.date],
    ...(iso.label ? ["-volid", iso.label.volumeId, "-volset-id", iso.label.volumeSetId] : []),
  ];
}
