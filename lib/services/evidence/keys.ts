/** The public side of the factory's keys. */
import { notFound } from "../../errors/app-error.ts";
import type { SecureBootKeys } from "../../keys/types.ts";
import type { KeyService } from "../contracts.ts";

/** The key use cases; `keys` is null when SecureBoot is off. */
export function createKeyService(keys: SecureBootKeys | null): KeyService {
  return {
    signingCertificate() {
      if (keys !== null) return { pem: keys.certificatePem, der: keys.certificate };
      throw notFound("secure boot is disabled: this factory has no signing certificate", {
        hint: "The operator sets SECUREBOOT_SIGNING_KEY, SECUREBOOT_SIGNING_CERT and SECUREBOOT_PCR_KEY.",
      });
    },
  };
}
