/** Step "enrollment": the files from which firmware takes the factory's keys, and the certificate for people. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { authVariable, SECURE_BOOT_VARIABLES, type SecureBootVariable } from "../../formats/efi-auth.ts";
import { certificateOwner, signatureLists } from "../../formats/efi-signature-list.ts";
import { wellKnownEntries } from "../../formats/well-known-certificates.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { flagParam } from "../params.ts";
import type { SigningKeys, StepFunction } from "../types.ts";
import { requireKeys } from "./signing.ts";

/** The certificate as DER, the form firmware set-up menus read. */
export const SIGNING_CERTIFICATE = "signing-cert.der";

/** Params: certificate, databases, wellKnown. Gives a folder: PK.auth, KEK.auth, db.auth and the certificate. */
export const enrollmentStep: StepFunction = async (params, _needs, ctx) => {
  const keys = requireKeys(params, ctx);
  const wellKnown = flagParam(params, "wellKnown");
  const made = (name: SecureBootVariable) => variableFile(name, keys, wellKnown);
  const folder = join(ctx.dir, "enrollment");
  await mkdir(folder);
  for (const name of SECURE_BOOT_VARIABLES)
    await writeFile(join(folder, `${name}.auth`), keys.databases?.[name] ?? made(name));
  await writeFile(join(folder, SIGNING_CERTIFICATE), keys.certificate);
  return { path: folder, shape: "tree" };
};

function variableFile(name: SecureBootVariable, keys: SigningKeys, wellKnown: boolean): Uint8Array {
  const own = { owner: certificateOwner(keys.certificate), certificate: keys.certificate };
  const others = wellKnown && name !== "PK" ? wellKnownEntries(name) : [];
  return authVariable(name, signatureLists([own, ...others]), SOURCE_DATE_EPOCH, keys);
}
