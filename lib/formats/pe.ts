/** PE32+ images (Microsoft PE and COFF specification): read the headers, append sections as a UKI needs it. */

export interface PeSection {
  name: string;
  virtualSize: number;
  virtualAddress: number;
  rawSizeBytes: number;
  rawOffset: number;
  characteristics: number;
}

export interface PeImage {
  /** Offset of the "PE\0\0" signature. */
  signatureOffset: number;
  optionalHeaderBytes: number;
  sectionAlignment: number;
  fileAlignment: number;
  sections: PeSection[];
  /** True when the file carries COFF symbols, which an appended image cannot keep. */
  hasSymbols: boolean;
}

export interface AppendedSection {
  /** At most eight ASCII characters. */
  name: string;
  sizeBytes: number;
}

/** The image to be written: headers as bytes, then raw data in the order of `sections`. */
export interface PeLayout {
  /** DOS header to the end of the padded section table. */
  headers: Uint8Array;
  /** All sections with their new places; raw data is zero-padded to rawSizeBytes. */
  sections: PeSection[];
  fileBytes: number;
}

const DOS_BYTES = 0x40;
const NEW_SIGNATURE_OFFSET = 0x80;
const COFF_BYTES = 20;
const SECTION_BYTES = 40;
const INITIALIZED_DATA = 0x40;
/** Initialized data, readable. */
const APPENDED_CHARACTERISTICS = 0x40000040;
const PE32_PLUS = 0x20b;

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads DOS, COFF, optional header and section table. Throws RangeError when it is not a whole PE32+ image. */
export function parsePe(bytes: Uint8Array): PeImage {
  const data = view(bytes);
  if (bytes.length < DOS_BYTES || data.getUint16(0, true) !== 0x5a4d) throw new RangeError("no MZ signature");
  const at = data.getUint32(0x3c, true);
  if (at + 4 + COFF_BYTES + 240 > bytes.length || data.getUint32(at, true) !== 0x4550) {
    throw new RangeError("no PE signature");
  }
  const coff = at + 4;
  const optional = coff + COFF_BYTES;
  const optionalHeaderBytes = data.getUint16(coff + 16, true);
  if (data.getUint16(optional, true) !== PE32_PLUS) throw new RangeError("not a PE32+ image");
  const count = data.getUint16(coff + 2, true);
  const table = optional + optionalHeaderBytes;
  if (table + count * SECTION_BYTES > bytes.length) throw new RangeError("the section table is cut off");
  const image = {
    signatureOffset: at,
    optionalHeaderBytes,
    sectionAlignment: data.getUint32(optional + 32, true),
    fileAlignment: data.getUint32(optional + 36, true),
    sections: Array.from({ length: count }, (_, index) => readSection(bytes, table + index * SECTION_BYTES)),
    hasSymbols: data.getUint32(coff + 8, true) !== 0 || data.getUint32(coff + 12, true) !== 0,
  };
  if (image.sectionAlignment === 0 || image.fileAlignment === 0) throw new RangeError("zero PE alignment");
  return image;
}

function readSection(bytes: Uint8Array, at: number): PeSection {
  const data = view(bytes);
  const name = new TextDecoder("latin1").decode(bytes.subarray(at, at + 8)).replace(/\0+$/, "");
  return {
    name,
    virtualSize: data.getUint32(at + 8, true),
    virtualAddress: data.getUint32(at + 12, true),
    rawSizeBytes: data.getUint32(at + 16, true),
    rawOffset: data.getUint32(at + 20, true),
    characteristics: data.getUint32(at + 36, true),
  };
}

/**
 * Lays out `stub` with sections appended: their addresses follow at section alignment, all raw data moves to
 * directly behind the headers. Linker version and checksum become 0, relocation and line pointers are dropped,
 * data directories stay. `timestamp` is in seconds since 1970. Throws RangeError for a stub with COFF symbols.
 */
export function layoutPe(stub: Uint8Array, appended: AppendedSection[], timestamp: number): PeLayout {
  const image = parsePe(stub);
  if (image.hasSymbols) throw new RangeError("the PE image carries COFF symbols");
  const count = image.sections.length + appended.length;
  const tableOffset = NEW_SIGNATURE_OFFSET + 4 + COFF_BYTES + image.optionalHeaderBytes;
  const headerBytes = roundUp(tableOffset - 4 + count * SECTION_BYTES, image.fileAlignment);
  const sections = placeSections(image, appended, headerBytes);

  const headers = new Uint8Array(headerBytes);
  headers.set(stub.subarray(0, DOS_BYTES));
  headers.set(
    stub.subarray(image.signatureOffset, image.signatureOffset + 4 + COFF_BYTES + image.optionalHeaderBytes),
    NEW_SIGNATURE_OFFSET,
  );
  const data = view(headers);
  data.setUint32(0x3c, NEW_SIGNATURE_OFFSET, true);
  const coff = NEW_SIGNATURE_OFFSET + 4;
  data.setUint16(coff + 2, count, true);
  data.setUint32(coff + 4, timestamp, true);
  writeSizes(data, coff + COFF_BYTES, image, sections, headerBytes);
  for (const [index, section] of sections.entries())
    writeSection(headers, tableOffset + index * SECTION_BYTES, section);
  const last = sections.at(-1);
  return { headers, sections, fileBytes: last ? last.rawOffset + last.rawSizeBytes : headerBytes };
}

function placeSections(image: PeImage, appended: AppendedSection[], headerBytes: number): PeSection[] {
  const all: PeSection[] = image.sections.map((section) => ({ ...section }));
  for (const { name, sizeBytes } of appended) {
    const previous = all.at(-1);
    const end = previous ? previous.virtualAddress + previous.virtualSize : headerBytes;
    all.push({
      name,
      virtualSize: sizeBytes,
      virtualAddress: roundUp(end, image.sectionAlignment),
      rawSizeBytes: roundUp(sizeBytes, image.fileAlignment),
      rawOffset: 0,
      characteristics: APPENDED_CHARACTERISTICS,
    });
  }
  let offset = headerBytes;
  for (const section of all) {
    section.rawOffset = offset;
    offset += section.rawSizeBytes;
  }
  return all;
}

function writeSizes(
  data: DataView,
  optional: number,
  image: PeImage,
  sections: PeSection[],
  headerBytes: number,
): void {
  const sum = (initialized: boolean) =>
    sections
      .filter(({ characteristics }) => ((characteristics & INITIALIZED_DATA) !== 0) === initialized)
      .reduce((total, { rawSizeBytes }) => total + rawSizeBytes, 0);
  const last = sections.at(-1);
  const end = last ? last.virtualAddress + last.virtualSize : headerBytes;
  data.setUint16(optional + 2, 0, true);
  data.setUint32(optional + 4, sum(false), true);
  data.setUint32(optional + 8, sum(true), true);
  data.setUint32(optional + 56, roundUp(end, image.sectionAlignment), true);
  data.setUint32(optional + 60, headerBytes, true);
  data.setUint32(optional + 64, 0, true);
}

function writeSection(headers: Uint8Array, at: number, section: PeSection): void {
  const data = view(headers);
  headers.set(new TextEncoder().encode(section.name).subarray(0, 8), at);
  data.setUint32(at + 8, section.virtualSize, true);
  data.setUint32(at + 12, section.virtualAddress, true);
  data.setUint32(at + 16, section.rawSizeBytes, true);
  data.setUint32(at + 20, section.rawOffset, true);
  data.setUint32(at + 36, section.characteristics, true);
}
