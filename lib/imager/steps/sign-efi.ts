/** Step "sign-efi": an EFI program with an Authenticode signature by the factory's key. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { need } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { requireKeys, signInPlace } from "./signing.ts";

/** Params: certificate. Needs: the program. */
export const signEfiStep: StepFunction = async (params, needs, ctx) => {
  const keys = requireKeys(params, ctx);
  const path = join(ctx.dir, "signed.efi");
  await copyFile(need(needs, 0).path, path);
  await signInPlace(path, keys, ctx);
  return { path, shape: "file" };
};
