/** The .pcrsig texts of a unified kernel image: one for each profile, over what firmware will measure for it. */
import { AppError } from "../../errors/app-error.ts";
import {
  type BankDigests,
  bankDigests,
  isMeasured,
  PCR_BANKS,
  pcrPolicy,
  pcrSignatureText,
} from "../../formats/pcr-policy.ts";
import { parsePe } from "../../formats/pe.ts";
import { sectionsOfProfile, type UkiSection } from "../../formats/uki.ts";
import type { SigningKeys } from "../types.ts";
import { readBankDigests } from "./bank-digests.ts";
import { readPiece } from "./write-pieces.ts";

export interface MeasuredFiles {
  stub: string;
  /** Start of the stub with all of its headers. */
  stubHead: Uint8Array;
  /** Digests written by the step "bank-digests". */
  kernel: string;
  initramfs: string;
}

interface Measured {
  name: string;
  digests: BankDigests;
}

/** Texts by number of the profile, as the sections ask for them. */
export async function measuredSignatures(
  sections: readonly UkiSection[],
  keys: SigningKeys,
  files: MeasuredFiles,
): Promise<string[]> {
  const measured = await measure(sections, files);
  const profiles = sections.filter(({ content }) => "signatureOf" in content).length;
  return Array.from({ length: profiles }, (_, profile) => {
    const own = sectionsOfProfile(measured, profile);
    const digests = new Map([...own].map(([name, section]) => [name, section.digests]));
    const signatures = PCR_BANKS.map((bank) => {
      const policy = pcrPolicy(bank, digests);
      return { bank, policy, signature: keys.pcr.sign(bank, policy) };
    });
    return pcrSignatureText(keys.pcr.keyId, signatures);
  });
}

async function measure(sections: readonly UkiSection[], files: MeasuredFiles): Promise<Measured[]> {
  const byFile = {
    kernel: await readBankDigests(files.kernel),
    initramfs: await readBankDigests(files.initramfs),
  };
  const appended = sections
    .filter(({ name }) => isMeasured(name))
    .map(({ name, content }) => {
      if ("file" in content) return { name, digests: byFile[content.file] };
      if ("text" in content) return { name, digests: bankDigests(new TextEncoder().encode(content.text)) };
      throw new AppError("internal", `the section ${name} cannot be measured`, { retryable: false });
    });
  return [...(await measureStub(files)), ...appended];
}

/** The stub's own sections are measured too; of what is read here only .sbat is one that counts. */
async function measureStub({ stub, stubHead }: MeasuredFiles): Promise<Measured[]> {
  const own = parsePe(stubHead).sections.filter(({ name }) => isMeasured(name));
  return await Promise.all(
    own.map(async ({ name, rawOffset, rawSizeBytes, virtualSize }) => ({
      name,
      digests: bankDigests(await readPiece(stub, rawOffset, Math.min(virtualSize, rawSizeBytes))),
    })),
  );
}
