/** Expected TPM measurements of a unified kernel image (UAPI.5; TPM 2.0 part 3 TPM2_PolicyPCR), to be signed in advance. */
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

export const PCR_BANKS = ["sha256", "sha384", "sha512"] as const;
export type PcrBank = (typeof PCR_BANKS)[number];

/** Digest of a section's content for each bank. */
export type BankDigests = Record<PcrBank, Uint8Array>;

const HASH = { sha256, sha384, sha512 } as const;
/** TPM_ALG_ID. */
const ALGORITHM: Record<PcrBank, number> = { sha256: 0x0b, sha384: 0x0c, sha512: 0x0d };
/** TPM_CC_PolicyPCR, and a selection of one bank with three bytes of PCR bits, of which bit 11 is set. */
const POLICY_PCR = [0, 0, 0x01, 0x7f];
const SELECTION_COUNT = [0, 0, 0, 1];
const PCR_11 = [3, 0x00, 0x08, 0x00];

/** The order in which systemd-stub measures (UAPI.5 "PE sections"); other sections are not measured. */
const MEASURED = [
  ...[".linux", ".osrel", ".cmdline", ".initrd", ".ucode", ".splash", ".dtb"],
  ...[".uname", ".sbat", ".pcrpkey", ".profile", ".dtbauto", ".hwids"],
];
/** Phases of the boot that extend the register later; what is signed holds after the last one. */
const PHASES = ["enter-initrd", "leave-initrd", "enter-machined"];

/** True for a section that firmware measures. */
export const isMeasured = (name: string): boolean => MEASURED.includes(name);

/** Digests of bytes that are in memory. */
export const bankDigests = (bytes: Uint8Array): BankDigests => ({
  sha256: sha256(bytes),
  sha384: sha384(bytes),
  sha512: sha512(bytes),
});

/** What a register of a bank holds when a digest was extended into it (TPM 2.0 part 3, TPM2_PCR_Extend). */
export const extendRegister = (bank: PcrBank, register: Uint8Array, digest: Uint8Array): Uint8Array =>
  HASH[bank](concatBytes(register, digest));

/** PCR 11 of a bank after the last phase, when these sections are measured. */
export function pcrValue(bank: PcrBank, sections: ReadonlyMap<string, BankDigests>): Uint8Array {
  const hash = HASH[bank];
  let register: Uint8Array = new Uint8Array(hash.outputLen);
  const extend = (digest: Uint8Array) => {
    register = extendRegister(bank, register, digest);
  };
  for (const name of MEASURED) {
    const digests = sections.get(name);
    if (!digests) continue;
    extend(hash(utf8ToBytes(`${name}\0`)));
    extend(digests[bank]);
  }
  for (const phase of PHASES) extend(hash(utf8ToBytes(phase)));
  return register;
}

/** The policy digest (always SHA-256) that unlocks when PCR 11 of the bank has the expected value. */
export function pcrPolicy(bank: PcrBank, sections: ReadonlyMap<string, BankDigests>): Uint8Array {
  return sha256(
    concatBytes(
      new Uint8Array(32),
      Uint8Array.from([...POLICY_PCR, ...SELECTION_COUNT, 0, ALGORITHM[bank], ...PCR_11]),
      sha256(pcrValue(bank, sections)),
    ),
  );
}

export interface PcrSignature {
  bank: PcrBank;
  policy: Uint8Array;
  signature: Uint8Array;
}

/** Text of a .pcrsig section. `keyId` is the SHA-256 of the public key as PKCS#1 DER. */
export function pcrSignatureText(keyId: Uint8Array, signatures: readonly PcrSignature[]): string {
  const entry = ({ policy, signature }: PcrSignature) => ({
    pcrs: [11],
    pkfp: bytesToHex(keyId),
    pol: bytesToHex(policy),
    sig: btoa(Array.from(signature, (byte) => String.fromCharCode(byte)).join("")),
  });
  return JSON.stringify(Object.fromEntries(signatures.map((one) => [one.bank, [entry(one)]])));
}
