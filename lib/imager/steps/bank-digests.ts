/** Step "bank-digests": digests of a file in every bank of a TPM, kept so that a large file is read once. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { type BankDigests, PCR_BANKS, type PcrBank } from "../../formats/pcr-policy.ts";
import { need } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** Needs: the file. Gives a JSON file { sha256, sha384, sha512 } in hex. */
export const bankDigestsStep: StepFunction = async (_params, needs, ctx) => {
  const hashes = PCR_BANKS.map((bank) => [bank, createHash(bank)] as const);
  const stream = createReadStream(need(needs, 0).path, { highWaterMark: 1024 * 1024, signal: ctx.signal });
  for await (const chunk of stream) for (const [, hash] of hashes) hash.update(chunk);
  const path = join(ctx.dir, "digests.json");
  await writeFile(
    path,
    JSON.stringify(Object.fromEntries(hashes.map(([bank, hash]) => [bank, hash.digest("hex")]))),
  );
  return { path, shape: "file" };
};

/** Reads what the step wrote. */
export async function readBankDigests(path: string): Promise<BankDigests> {
  const value: unknown = JSON.parse(await readFile(path, "utf8"));
  const digest = (bank: PcrBank): Uint8Array => {
    const hex: unknown = value !== null && typeof value === "object" ? Reflect.get(value, bank) : undefined;
    if (typeof hex === "string" && hex !== "") return Uint8Array.from(Buffer.from(hex, "hex"));
    throw new AppError("internal", `the measurements lack ${bank}`, { retryable: false });
  };
  return { sha256: digest("sha256"), sha384: digest("sha384"), sha512: digest("sha512") };
}
