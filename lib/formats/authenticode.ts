/** Authenticode signatures of EFI programs (Microsoft Authenticode PE; UEFI 2.10 §32.2.2): what is hashed, what is stored. */
import { der, derBits, derContext, derNull, derOctets, derOid, derSequence } from "./der.ts";
import { parsePe } from "./pe.ts";
import { attachedSignedData, contentInfo, type Signer } from "./pkcs7.ts";

/** A stretch of a file, in bytes. */
export interface ByteStretch {
  offset: number;
  length: number;
}

export interface SignablePe {
  /** The file is cut or filled with zeros to this many bytes before it is hashed: an older signature goes away. */
  contentBytes: number;
  /** What is hashed, in order; all within contentBytes. */
  hashed: ByteStretch[];
  /** Where the eight bytes of the certificate table entry stand. */
  tableEntryOffset: number;
}

export interface PeSignature {
  /** Little-endian offset and size for the header's certificate table entry. */
  tableEntry: Uint8Array;
  /** Goes behind the content. */
  table: Uint8Array;
}

const INDIRECT_DATA = "1.3.6.1.4.1.311.2.1.4";
const PE_IMAGE_DATA = "1.3.6.1.4.1.311.2.1.15";
const SHA256 = derSequence(derOid("2.16.840.1.101.3.4.2.1"), derNull());
/** WIN_CERTIFICATE: length, revision 2.0, type PKCS#7 (UEFI 2.10 §32.2.4). */
const WIN_CERTIFICATE_BYTES = 8;
const REVISION_2 = 0x0200;
const PKCS_SIGNED_DATA = 0x0002;

const align8 = (value: number): number => Math.ceil(value / 8) * 8;

/**
 * How a PE32+ file of `fileBytes` bytes is hashed; `head` holds at least all headers. Throws RangeError when the raw
 * data of the sections overlaps or has gaps: verifiers do not agree about such files.
 */
export function signablePe(head: Uint8Array, fileBytes: number): SignablePe {
  const image = parsePe(head);
  const data = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const optional = image.signatureOffset + 24;
  const headerBytes = data.getUint32(optional + 60, true);
  const checksum = optional + 64;
  if (data.getUint32(optional + 108, true) < 5) throw new RangeError("the PE image has no certificate table");
  const entry = optional + 144;
  const oldTable = data.getUint32(entry, true);
  checkSections(image.sections, headerBytes, fileBytes);
  const contentBytes = align8(oldTable > 0 && oldTable < fileBytes ? oldTable : fileBytes);
  const hashed = [
    { offset: 0, length: checksum },
    { offset: checksum + 4, length: entry - checksum - 4 },
    { offset: entry + 8, length: contentBytes - entry - 8 },
  ];
  return { contentBytes, hashed, tableEntryOffset: entry };
}

function checkSections(
  sections: { name: string; rawOffset: number; rawSizeBytes: number }[],
  headerBytes: number,
  fileBytes: number,
): void {
  let end = headerBytes;
  const stored = sections.filter(({ rawSizeBytes }) => rawSizeBytes > 0);
  for (const section of stored.sort((a, b) => a.rawOffset - b.rawOffset)) {
    if (section.rawOffset !== end)
      throw new RangeError(`the section ${section.name} does not follow the one before`);
    end += section.rawSizeBytes;
  }
  if (end > fileBytes) throw new RangeError("the PE image is cut off");
}

/** The signature for a file whose stretches have this SHA-256 digest. */
export function signPe({ contentBytes }: SignablePe, digest: Uint8Array, signer: Signer): PeSignature {
  const signature = contentInfo(attachedSignedData(INDIRECT_DATA, indirectData(digest), signer));
  const table = new Uint8Array(align8(WIN_CERTIFICATE_BYTES + signature.length));
  const header = new DataView(table.buffer);
  header.setUint32(0, table.length, true);
  header.setUint16(4, REVISION_2, true);
  header.setUint16(6, PKCS_SIGNED_DATA, true);
  table.set(signature, WIN_CERTIFICATE_BYTES);
  const tableEntry = new Uint8Array(8);
  const entry = new DataView(tableEntry.buffer);
  entry.setUint32(0, contentBytes, true);
  entry.setUint32(4, table.length, true);
  return { tableEntry, table };
}

/** SpcIndirectDataContent with the fixed page hash link that signers have written since Windows 2000. */
function indirectData(digest: Uint8Array): Uint8Array {
  const obsolete = Uint8Array.from("<<<Obsolete>>>", (character) => character.charCodeAt(0));
  const utf16 = Uint8Array.from([...obsolete].flatMap((byte) => [0, byte]));
  const link = derContext(0, derContext(2, der(0x80, utf16)));
  const imageData = derSequence(derBits(new Uint8Array()), link);
  return derSequence(derSequence(derOid(PE_IMAGE_DATA), imageData), derSequence(SHA256, derOctets(digest)));
}
