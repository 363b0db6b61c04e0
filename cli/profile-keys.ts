/** The SecureBoot keys a profile names. */
import { resolve } from "node:path";
import type { CompleteProfile } from "../lib/domain/imager-profile/complete.ts";
import type { SignerInput } from "../lib/domain/imager-profile/types.ts";
import { databasePaths } from "../lib/domain/secureboot-input.ts";
import { AppError } from "../lib/errors/app-error.ts";
import { readSecureBootKeys } from "../lib/keys/read-keys.ts";
import type { SecureBootKeys } from "../lib/keys/types.ts";
import type { CommandSettings } from "./settings.ts";

/** Where the public imager keeps its keys. */
const KEYS = "/secureboot";

/** Keys by the profile's paths, else by SECUREBOOT_* variables, else in /secureboot. Rejects with what is wrong with them. */
export async function readProfileKeys(
  profile: CompleteProfile,
  { workingFolder, keyFiles }: CommandSettings,
): Promise<SecureBootKeys> {
  const { secureBootSigner = {}, pcrSigner = {}, ...input } = profile.source.input?.secureboot ?? {};
  for (const signer of [secureBootSigner, pcrSigner]) refuseServices(signer);
  const at = (written: string | undefined, known: string | undefined, name: string) =>
    resolve(workingFolder, written || (known ?? `${KEYS}/${name}`));
  const databases = databasePaths(input);
  return readSecureBootKeys({
    signingKey: at(secureBootSigner.keyPath, keyFiles?.signingKey, "uki-signing-key.pem"),
    signingCertificate: at(secureBootSigner.certPath, keyFiles?.signingCertificate, "uki-signing-cert.pem"),
    pcrKey: at(pcrSigner.keyPath, keyFiles?.pcrKey, "pcr-signing-key.pem"),
    ...(databases === null
      ? {}
      : {
          databases: {
            PK: resolve(workingFolder, databases.platformKeyPath),
            KEK: resolve(workingFolder, databases.keyExchangeKeyPath),
            db: resolve(workingFolder, databases.signatureKeyPath),
          },
        }),
  });
}

function refuseServices({ signerAddress, azureVaultURL, awsKMSKeyID }: SignerInput): void {
  if (!signerAddress && !azureVaultURL && !awsKMSKeyID) return;
  throw new AppError("not_implemented", "signing by a service is not supported", {
    hint: "Give the keys as PEM files: keyPath and certPath.",
    retryable: false,
  });
}
