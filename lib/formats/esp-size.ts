/** Size and cluster size of the EFI system partition inside an ISO. */

const MIB = 1024 * 1024;
const SECTOR_BYTES = 512;
/** Clusters a FAT32 must have (65525, Microsoft FAT specification) with a margin for the FATs themselves. */
const FEWEST_CLUSTERS = 65525 + 2048;

const wholeMib = (bytes: number): number => Math.ceil(bytes / MIB) * MIB;

/**
 * Bytes of the ISO's ESP image: 10 MiB of room and each file rounded up to whole MiB, and never so small that it would
 * not be a FAT32 (only toy kernels come near that).
 */
export const isoEspBytes = (sdBootBytes: number, ukiBytes: number): number =>
  Math.max(10 * MIB + wholeMib(sdBootBytes) + wholeMib(ukiBytes), wholeMib(FEWEST_CLUSTERS * SECTOR_BYTES));

/** Sectors per cluster, 1 to 8: as large as leaves enough clusters for FAT32; large clusters read faster in firmware. */
export function espSectorsPerCluster(sizeBytes: number): number {
  const sectors = Math.floor(sizeBytes / SECTOR_BYTES);
  let perCluster = 1;
  while (perCluster * 2 <= 8 && Math.floor(sectors / (perCluster * 2)) >= FEWEST_CLUSTERS) perCluster *= 2;
  return perCluster;
}
