/** The certificates a Rekor entry was made with, in each kind of entry that a signature can have. */
import { X509Certificate } from "node:crypto";
import { z } from "zod";

const v1Signature = z.object({ publicKey: z.object({ content: z.base64() }) });
const v2Verifier = z.object({ verifier: z.object({ x509Certificate: z.object({ rawBytes: z.base64() }) }) });

/** Base64 of PEM in version 0.0.1 (and in intoto 0.0.2), of DER in version 0.0.2 of Rekor's second generation. */
const bodySchema = z.object({
  spec: z.object({
    signature: v1Signature.optional(),
    signatures: z.array(z.object({ verifier: z.base64() })).optional(),
    content: z
      .object({ envelope: z.object({ signatures: z.array(z.object({ publicKey: z.base64() })) }) })
      .optional(),
    hashedRekordV002: z.object({ signature: v2Verifier }).optional(),
    dsseV002: z.object({ signatures: z.array(v2Verifier) }).optional(),
  }),
});

/** DER of each; none for an entry of another kind, or one made with a plain key. */
export function loggedCertificates(body: Uint8Array): Buffer[] {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return [];
  }
  const { data } = bodySchema.safeParse(json);
  if (!data) return [];
  const { signature, signatures, content, hashedRekordV002, dsseV002 } = data.spec;
  const texts = [
    signature?.publicKey.content,
    ...(signatures ?? []).map(({ verifier }) => verifier),
    ...(content?.envelope.signatures ?? []).map(({ publicKey }) => publicKey),
    hashedRekordV002?.signature.verifier.x509Certificate.rawBytes,
    ...(dsseV002?.signatures ?? []).map(({ verifier }) => verifier.x509Certificate.rawBytes),
  ];
  return texts.filter((text) => text !== undefined).flatMap(toDer);
}

function toDer(base64: string): Buffer[] {
  try {
    return [new X509Certificate(Buffer.from(base64, "base64")).raw];
  } catch {
    return [];
  }
}
