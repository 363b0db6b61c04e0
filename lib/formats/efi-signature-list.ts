/** EFI signature lists (UEFI 2.10 §32.4.1): which certificates a Secure Boot variable holds. */
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { guidBytes, guidText, hashedGuid } from "./guid.ts";
import { pemText } from "./pem.ts";

export interface SignatureEntry {
  /** GUID text of who put the certificate there. */
  owner: string;
  /** DER. */
  certificate: Uint8Array;
}

/** EFI_CERT_X509_GUID. */
const CERT_X509 = "a5c059a1-94e4-4aa7-87b5-ab155c2bf072";
const LIST_HEADER_BYTES = 28;
const OWNER_BYTES = 16;
/** Namespace of X.500 names (RFC 9562 §6.6). */
const X500_NAMESPACE = "6ba7b8149dad11d180b400c04fd430c8";

/** One list for each certificate, one after the other. */
export function signatureLists(entries: readonly SignatureEntry[]): Uint8Array {
  return concatBytes(...entries.map(signatureList));
}

function signatureList({ owner, certificate }: SignatureEntry): Uint8Array {
  const list = new Uint8Array(LIST_HEADER_BYTES + OWNER_BYTES + certificate.length);
  const data = new DataView(list.buffer);
  list.set(guidBytes(CERT_X509));
  data.setUint32(16, list.length, true);
  data.setUint32(24, OWNER_BYTES + certificate.length, true);
  list.set(guidBytes(owner), LIST_HEADER_BYTES);
  list.set(certificate, LIST_HEADER_BYTES + OWNER_BYTES);
  return list;
}

/** The X.509 certificates of signature lists; lists of other types are left out. RangeError for damaged lists. */
export function readSignatureLists(bytes: Uint8Array): SignatureEntry[] {
  const entries: SignatureEntry[] = [];
  const type = guidBytes(CERT_X509);
  for (let at = 0; at < bytes.length; ) {
    const data = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    if (data.byteLength < LIST_HEADER_BYTES) throw new RangeError("the signature list is cut off");
    const listBytes = data.getUint32(16, true);
    const start = LIST_HEADER_BYTES + data.getUint32(20, true);
    const size = data.getUint32(24, true);
    if (listBytes < start || listBytes > data.byteLength || size <= OWNER_BYTES)
      throw new RangeError("the signature list has impossible sizes");
    if (type.every((byte, index) => bytes[at + index] === byte)) {
      for (let entry = at + start; entry + size <= at + listBytes; entry += size) {
        entries.push({
          owner: guidText(bytes.slice(entry, entry + OWNER_BYTES)),
          certificate: bytes.slice(entry + OWNER_BYTES, entry + size),
        });
      }
    }
    at += listBytes;
  }
  return entries;
}

/** The owner of one's own certificate: a UUID of version 4 layout from the X.500 namespace and its PEM text. */
export const certificateOwner = (certificate: Uint8Array): string =>
  hashedGuid(hexToBytes(X500_NAMESPACE), utf8ToBytes(pemText("CERTIFICATE", certificate)), 0x40);
