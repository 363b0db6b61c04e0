/** Removes from a fresh XFS what differs between two runs of mkfs.xfs: the four times and the generation of every inode. */
import { AppError } from "../errors/app-error.ts";
import { crc32c } from "./crc32.ts";

/** Reads `length` bytes at `offset` of the file system. */
export type ReadAt = (offset: number, length: number) => Promise<Uint8Array>;

export interface XfsPatch {
  offset: number;
  bytes: Uint8Array;
}

interface Geometry {
  blockBytes: number;
  agBlocks: number;
  agCount: number;
  sectorBytes: number;
  inodeBytes: number;
  inodesPerBlock: number;
}

const SB_MAGIC = 0x58465342;
const AGI_MAGIC = 0x58414749;
const INOBT_MAGIC = 0x49414233;
const INODE_MAGIC = 0x494e;
const INODES_PER_CHUNK = 64;
/** Short-form btree block header with checksum: 56 bytes; then inobt records of 16 bytes. */
const BTREE_HEADER_BYTES = 56;
const INOBT_RECORD_BYTES = 16;
/** di_atime, di_mtime, di_ctime and di_crtime in struct xfs_dinode, 8 bytes each (XFS Algorithms & Data Structures). */
const TIME_OFFSETS = [32, 40, 48, 144];
/** di_gen: zero from mkfs.xfs 6.1, random from later ones (6.13 for one). */
const INODE_GENERATION_OFFSET = 92;
const INODE_CRC_OFFSET = 100;
const INODE_FLAGS2_OFFSET = 120;
const FLAG2_BIGTIME = 8n;
/** bigtime counts nanoseconds from 2³¹ seconds before 1970. */
const BIGTIME_EPOCH_SECONDS = 2n ** 31n;

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const unexpected = (what: string): AppError =>
  new AppError("internal", `the file system made by mkfs.xfs cannot be read back: ${what}`, {
    retryable: false,
  });

/**
 * What to write over a file system fresh from mkfs.xfs so that every inode carries the time `seconds` (since 1970),
 * generation 0 and a right checksum. Only for version 5 with trees of one level, which is what a handful of files
 * makes; internal for anything else.
 */
export async function xfsPatches(read: ReadAt, seconds: number): Promise<XfsPatch[]> {
  const geometry = await readGeometry(read);
  const patches: XfsPatch[] = [];
  for (let ag = 0; ag < geometry.agCount; ag++) {
    for (const chunk of await inodeChunks(read, geometry, ag)) {
      const block = Math.floor(chunk / geometry.inodesPerBlock);
      const start = (ag * geometry.agBlocks + block) * geometry.blockBytes;
      const bytes = await read(start, INODES_PER_CHUNK * geometry.inodeBytes);
      for (let index = 0; index < INODES_PER_CHUNK; index++) {
        const offset = index * geometry.inodeBytes;
        const inode = bytes.slice(offset, offset + geometry.inodeBytes);
        if (settleInode(inode, seconds)) patches.push({ offset: start + offset, bytes: inode });
      }
    }
  }
  return patches;
}

async function readGeometry(read: ReadAt): Promise<Geometry> {
  const superblock = view(await read(0, 512));
  if (superblock.getUint32(0) !== SB_MAGIC) throw unexpected("no superblock");
  if ((superblock.getUint16(100) & 0xf) !== 5) throw unexpected("not version 5");
  return {
    blockBytes: superblock.getUint32(4),
    agBlocks: superblock.getUint32(84),
    agCount: superblock.getUint32(88),
    sectorBytes: superblock.getUint16(102),
    inodeBytes: superblock.getUint16(104),
    inodesPerBlock: superblock.getUint16(106),
  };
}

/** Numbers, within the allocation group, of the first inode of each chunk. */
async function inodeChunks(read: ReadAt, geometry: Geometry, ag: number): Promise<number[]> {
  const agStart = ag * geometry.agBlocks * geometry.blockBytes;
  const agi = view(await read(agStart + 2 * geometry.sectorBytes, 512));
  if (agi.getUint32(0) !== AGI_MAGIC) throw unexpected(`no inode header in group ${ag}`);
  if (agi.getUint32(24) !== 1) throw unexpected(`the inode tree of group ${ag} has several levels`);
  const root = view(await read(agStart + agi.getUint32(20) * geometry.blockBytes, geometry.blockBytes));
  if (root.getUint32(0) !== INOBT_MAGIC) throw unexpected(`no inode tree in group ${ag}`);
  return Array.from({ length: root.getUint16(6) }, (_, index) =>
    root.getUint32(BTREE_HEADER_BYTES + index * INOBT_RECORD_BYTES),
  );
}

/** Sets all times, the generation and the checksum in place; false when there is no inode. */
function settleInode(inode: Uint8Array, seconds: number): boolean {
  const fields = view(inode);
  if (fields.getUint16(0) !== INODE_MAGIC) return false;
  const big = (fields.getBigUint64(INODE_FLAGS2_OFFSET) & FLAG2_BIGTIME) !== 0n;
  const value = big ? (BigInt(seconds) + BIGTIME_EPOCH_SECONDS) * 1_000_000_000n : BigInt(seconds) << 32n;
  for (const offset of TIME_OFFSETS) fields.setBigUint64(offset, value);
  fields.setUint32(INODE_GENERATION_OFFSET, 0);
  fields.setUint32(INODE_CRC_OFFSET, 0, true);
  fields.setUint32(INODE_CRC_OFFSET, crc32c(inode), true);
  return true;
}
