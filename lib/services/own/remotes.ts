/** Opens the registries of own sources: credentials from the operator's file, the source's own rule of trust. */
import { createPublicKey } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { OwnSource, OwnTrust } from "../../domain/own-sources.ts";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import { guardedFetch } from "../../oci/guarded-fetch.ts";
import { type ImageReference, parseReference } from "../../oci/reference.ts";
import { createSourceImages, type SourceImagesOptions } from "../../oci/source-images.ts";
import type { SourceImages } from "../../oci/types.ts";

/** The credentials file of docker and podman, as far as it is read (docker config.json, "auths"). */
const authFileSchema = z.object({
  auths: z
    .record(
      z.string(),
      z.object({
        auth: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
      }),
    )
    .prefault({}),
});

export interface RemotesOptions extends Pick<SourceImagesOptions, "run"> {
  /** File with credentials by host; null for none. Read anew each time. */
  authFile: string | null;
  /**
   * True where whoever reaches the server may add sources, adopt and pull: the operator's credentials are then for the
   * sources alone that the operator declared, or they would open private images to everyone.
   */
  everyone: boolean;
  /** Hosts that may be private addresses. They are also asked without TLS when they say so with http://. */
  privateHosts: readonly string[];
}

export interface Remote {
  images: SourceImages;
  reference: ImageReference;
}

/** What is fetched lies in `cacheDir`, and nowhere else. */
export type OpenRemote = (
  source: Pick<OwnSource, "reference" | "trust" | "declared">,
  cacheDir: string,
) => Promise<Remote>;

/** Gives a reader for the registry that a reference names. invalid_input for references without host. */
export function createRemotes(options: RemotesOptions): OpenRemote {
  // A registry outside must not lead us to private addresses, not even to those that others may be at.
  const outside = guardedFetch({ allowed: [] });
  const inside = guardedFetch({ allowed: options.privateHosts });
  return async ({ reference: written, trust, declared }, cacheDir) => {
    const text = written ?? "";
    const plain = text.startsWith("http://");
    const reference = parseReference(text.replace(/^https?:\/\//, ""));
    const host = reference.registry;
    if (host === null)
      throw invalidInput(`${JSON.stringify(text.slice(0, 200))} does not say which registry it is in`, {
        hint: "Write the host in front: registry.example.com/team/daemon:v1.",
        details: { field: "reference" },
      });
    const isPrivate = options.privateHosts.includes(host);
    if (plain && !isPrivate)
      throw invalidInput(`${host} may not be asked without TLS`, {
        hint: "Use https, or have the operator name the host in OWN_PRIVATE_REGISTRIES.",
        details: { field: "reference" },
      });
    const authFile = options.everyone && !declared ? null : options.authFile;
    const images = createSourceImages({
      ...{ run: options.run, cacheDir, registry: `${plain ? "http" : "https"}://${host}` },
      ...(await credentialsOf(authFile, host)),
      verify: await verification(cacheDir, trust),
      fetch: isPrivate ? inside : outside,
    });
    return { images, reference };
  };
}

async function credentialsOf(file: string | null, host: string) {
  const none = { username: null, password: null };
  if (file === null) return none;
  const auths = await readAuths(file);
  const entry = auths[host] ?? auths[`https://${host}`] ?? auths[`https://${host}/v1/`];
  if (entry === undefined) return none;
  if (entry.auth === undefined) return { username: entry.username ?? null, password: entry.password ?? null };
  const [username = "", ...password] = Buffer.from(entry.auth, "base64").toString("utf8").split(":");
  return { username, password: password.join(":") };
}

async function readAuths(file: string): Promise<z.output<typeof authFileSchema>["auths"]> {
  try {
    return authFileSchema.parse(JSON.parse(await readFile(file, "utf8"))).auths;
  } catch (cause) {
    // The parser's words may hold what stands in the file.
    throw new AppError("internal", "The file with credentials of registries cannot be read", {
      hint: "The operator should look at OWN_REGISTRY_AUTH_FILE: it has the form of docker's config.json.",
      cause,
    });
  }
}

/** Like all that a look needs, the key lies in its folder: whoever sends keys without end leaves nothing. */
async function verification(dir: string, trust: OwnTrust): Promise<SourceImagesOptions["verify"]> {
  if (trust.rule !== "key") return { kind: "off" };
  requirePublicKey(trust.pem);
  await mkdir(dir, { recursive: true });
  const file = path.join(dir, "trust.pem");
  await writeFile(file, trust.pem);
  return { kind: "key", file };
}

const KEY_TYPES = ["ec", "rsa", "ed25519"];

/** invalid_input when signatures cannot be checked with what looks like a public key. */
function requirePublicKey(pem: string): void {
  let type: string | undefined;
  try {
    type = createPublicKey(pem).asymmetricKeyType;
  } catch {
    // Said below.
  }
  if (type !== undefined && KEY_TYPES.includes(type)) return;
  throw invalidInput("The key of the source cannot be used", {
    hint: "Send the text of cosign.pub: ECDSA, RSA or Ed25519, from BEGIN PUBLIC KEY to END PUBLIC KEY.",
    details: { field: "trust.pem" },
  });
}
