/** Authenticated Secure Boot variables (UEFI 2.10 §8.2.2): the .auth files firmware takes its keys from. */
import { concatBytes } from "@noble/hashes/utils.js";
import { guidBytes } from "./guid.ts";
import { detachedSignedData, type Signer } from "./pkcs7.ts";

/** In the order in which their files lie on an EFI system partition. */
export const SECURE_BOOT_VARIABLES = ["PK", "db", "KEK"] as const;
export type SecureBootVariable = (typeof SECURE_BOOT_VARIABLES)[number];

/** EFI_GLOBAL_VARIABLE and EFI_IMAGE_SECURITY_DATABASE_GUID. */
const GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c";
const SECURITY_DATABASE = "d719b2cb-3d3a-4596-a3bc-dad00e67656f";
const VENDOR: Record<SecureBootVariable, string> = { PK: GLOBAL, KEK: GLOBAL, db: SECURITY_DATABASE };
/** EFI_CERT_TYPE_PKCS7_GUID. */
const CERT_PKCS7 = "4aafd29d-68df-49ee-8aa9-347d375665a7";
/** Non-volatile, boot service access, runtime access, time-based authenticated write access. */
const ATTRIBUTES = 0x27;
const TIME_BYTES = 16;
const CERTIFICATE_HEADER_BYTES = 24;
const REVISION_2 = 0x0200;
const EFI_GUID_TYPE = 0x0ef1;

/**
 * The file that sets `variable` to the signature lists: EFI_VARIABLE_AUTHENTICATION_2, then the lists. `time` is in
 * seconds since 1970; firmware wants a later one only when it replaces a variable that exists.
 */
export function authVariable(
  variable: SecureBootVariable,
  lists: Uint8Array,
  time: number,
  signer: Signer,
): Uint8Array {
  const stamp = efiTime(time);
  const signature = detachedSignedData(signedBytes(variable, stamp, lists), signer);
  const header = new Uint8Array(CERTIFICATE_HEADER_BYTES);
  const data = new DataView(header.buffer);
  data.setUint32(0, CERTIFICATE_HEADER_BYTES + signature.length, true);
  data.setUint16(4, REVISION_2, true);
  data.setUint16(6, EFI_GUID_TYPE, true);
  header.set(guidBytes(CERT_PKCS7), 8);
  return concatBytes(stamp, header, signature, lists);
}

/** The signature lists of a .auth file. Throws RangeError when it is none. */
export function authPayload(file: Uint8Array): Uint8Array {
  if (file.length < TIME_BYTES + CERTIFICATE_HEADER_BYTES) throw new RangeError("the file is cut off");
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = data.getUint32(TIME_BYTES, true);
  const known = guidBytes(CERT_PKCS7).every((byte, index) => file[TIME_BYTES + 8 + index] === byte);
  if (data.getUint16(TIME_BYTES + 6, true) !== EFI_GUID_TYPE || !known)
    throw new RangeError("the file is not an authenticated variable with a PKCS#7 signature");
  if (length < CERTIFICATE_HEADER_BYTES || TIME_BYTES + length > file.length)
    throw new RangeError("the file is cut off");
  return file.subarray(TIME_BYTES + length);
}

function signedBytes(variable: SecureBootVariable, stamp: Uint8Array, lists: Uint8Array): Uint8Array {
  const name = Uint8Array.from([...variable].flatMap((character) => [character.charCodeAt(0), 0]));
  const attributes = Uint8Array.of(ATTRIBUTES, 0, 0, 0);
  return concatBytes(name, guidBytes(VENDOR[variable]), attributes, stamp, lists);
}

/** EFI_TIME (UEFI 2.10 §8.3): nanosecond, time zone and daylight saving are zero in authenticated variables. */
function efiTime(seconds: number): Uint8Array {
  const time = new Date(seconds * 1000);
  const stamp = new Uint8Array(TIME_BYTES);
  new DataView(stamp.buffer).setUint16(0, time.getUTCFullYear(), true);
  stamp.set(
    [
      time.getUTCMonth() + 1,
      time.getUTCDate(),
      time.getUTCHours(),
      time.getUTCMinutes(),
      time.getUTCSeconds(),
    ],
    2,
  );
  return stamp;
}
