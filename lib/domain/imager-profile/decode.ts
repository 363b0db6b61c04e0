/** Reads a profile from YAML; keys it does not know are ignored, null counts as not given. */
import { parseDocument } from "yaml";
import { z } from "zod";
import { invalidInput } from "../../errors/app-error.ts";
import type { ImagerProfile } from "./types.ts";

const text = z.string().exactOptional();
const flag = z.boolean().exactOptional();
const count = z.int().min(0).exactOptional();
const file = z.object({ path: text }).exactOptional();
const image = z.object({ imageRef: text, forceInsecure: flag, tarballPath: text, ociPath: text });
const signer = z
  .object({ keyPath: text, certPath: text, signerAddress: text, azureVaultURL: text, awsKMSKeyID: text })
  .exactOptional();
const meta = z.object({ key: z.int().min(0).max(255), value: z.string().default("") });

const profileSchema: z.ZodType<ImagerProfile> = z.object({
  baseProfileName: text,
  arch: text,
  platform: text,
  secureboot: flag,
  name: text,
  version: text,
  customization: z
    .object({
      extraKernelArgs: z.array(z.string()).exactOptional(),
      metaContents: z.array(meta).exactOptional(),
      embeddedMachineConfiguration: text,
    })
    .exactOptional(),
  input: z
    .object({
      kernel: file,
      initramfs: file,
      sdStub: file,
      sdBoot: file,
      baseInstaller: image.exactOptional(),
      imageCache: image.exactOptional(),
      overlayInstaller: image.exactOptional(),
      systemExtensions: z.array(image).exactOptional(),
      secureboot: z
        .object({
          secureBootSigner: signer,
          pcrSigner: signer,
          platformKeyPath: text,
          keyExchangeKeyPath: text,
          signatureKeyPath: text,
          includeWellKnownCerts: flag,
        })
        .exactOptional(),
    })
    .exactOptional(),
  overlay: z
    .object({
      name: text,
      image: image.exactOptional(),
      options: z.record(z.string(), z.unknown()).exactOptional(),
    })
    .exactOptional(),
  output: z
    .object({
      kind: text,
      outFormat: text,
      imageOptions: z
        .object({
          diskSize: count,
          diskFormat: text,
          diskFormatOptions: text,
          diskSectorSize: count,
          bootloader: text,
          sdBootEnrollKeys: text,
        })
        .exactOptional(),
      isoOptions: z.object({ bootloader: text, sdBootEnrollKeys: text }).exactOptional(),
    })
    .exactOptional(),
});

/** The profile in `yaml`, one document. invalid_input naming the field, or the place of a mistake in the text. */
export function decodeProfile(yaml: string): ImagerProfile {
  const document = parseDocument(yaml);
  const [mistake] = document.errors;
  if (mistake) throw invalidInput(`the profile is not YAML: ${mistake.message.split("\n")[0]}`);
  const result = profileSchema.safeParse(withoutNulls(document.toJS({ maxAliasCount: 100 })) ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw invalidInput(`the profile field ${place === "" ? "(top)" : place} is wrong: ${issue?.message}`);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== "object") return value ?? undefined;
  const kept = Object.entries(value).filter(([, content]) => content !== null);
  return Object.fromEntries(kept.map(([key, content]) => [key, withoutNulls(content)]));
}
