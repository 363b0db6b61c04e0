/** Adds what SecureBoot needs: signed EFI programs, and the files from which firmware takes the keys. */
import type { Recipe, SigningIdentity } from "../../domain/recipe-types.ts";
import { invalidInput } from "../../errors/app-error.ts";
import type { PlanBuilder } from "./builder.ts";

/** The keys of a SecureBoot recipe, null for any other. invalid_input where there are none to sign with. */
export function signingOf(recipe: Pick<Recipe, "profile" | "signing">): SigningIdentity | null {
  if (!recipe.profile.secureboot) return null;
  if (recipe.signing) return recipe.signing;
  throw invalidInput("secure boot is disabled", {
    hint: "The operator of this factory has not configured SecureBoot signing keys.",
  });
}

/** The EFI program `file` with an Authenticode signature; gives the id of the step. */
export function addSigned(b: PlanBuilder, file: string, title: string, signing: SigningIdentity): string {
  return b.step({
    id: `signed-${file}`,
    op: "sign-efi",
    phase: "sign",
    title,
    params: { certificate: signing.certificate },
    needs: [file],
    part: true,
  });
}

/** Digests of `file` as a TPM would measure it; gives the id of the step. They are kept apart, as reading is all the work. */
export function addBankDigests(b: PlanBuilder, file: string): string {
  return b.step({
    id: `digests-${file}`,
    op: "bank-digests",
    phase: "sign",
    title: `Measure the ${file}`,
    params: {},
    needs: [file],
    part: true,
  });
}

/** A folder with PK.auth, KEK.auth, db.auth and the signing certificate; gives the id of the step. */
export function addEnrollment(b: PlanBuilder, recipe: Recipe, signing: SigningIdentity): string {
  return b.step({
    id: "enrollment",
    op: "enrollment",
    phase: "sign",
    title: "Write the keys that firmware enrolls",
    params: {
      certificate: signing.certificate,
      databases: signing.databases,
      // Ready-made databases are taken as they are.
      wellKnown: recipe.includeWellKnownCertificates && signing.databases === null,
    },
    needs: [],
    part: true,
  });
}
