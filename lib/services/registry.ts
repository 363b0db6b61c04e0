/** The registry under /v2: installers built here, images of the source and own ones, behind one set of questions. */
import { z } from "zod";
import type { RegistryRequest } from "../domain/registry-path.ts";
import { isDigest } from "../oci/reference.ts";
import { acceptsIndex } from "./registry-accept.ts";
import type { RegistryCall, RegistryDocument, RegistryService, TagPage } from "./registry-contracts.ts";
import type { InstallerDocument, Installers } from "./registry-installers.ts";
import type { OutsideRegistry } from "./registry-outside.ts";
import type { RegistryOwn } from "./registry-own.ts";
import type { RegistrySource } from "./registry-source.ts";

const indexSchema = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      platform: z.object({ architecture: z.string(), os: z.string() }).nullish(),
    }),
  ),
});

/** Joins the parts. */
export function createRegistryService(halves: {
  installers: Installers;
  source: RegistrySource;
  own: RegistryOwn;
  /** Where clients are sent for installers; null when they are served from here. */
  outside: OutsideRegistry | null;
}): RegistryService {
  const { installers, source, own, outside } = halves;
  const manifest = ({ target }: RegistryRequest, reference: string, call: RegistryCall) => {
    if (target.kind === "own") return own.manifest(target, reference);
    return target.kind === "source"
      ? source.manifest(target, reference, call.signal)
      : installers.manifest(target, reference, call);
  };

  function tagsOf(target: RegistryRequest["target"], signal: AbortSignal): Promise<string[]> {
    if (target.kind === "own") return own.tags(target);
    return target.kind === "source" ? source.tags(target, signal) : installers.tags(target);
  }

  async function manifestHere(
    request: RegistryRequest,
    call: RegistryCall & { accept?: string },
  ): Promise<InstallerDocument> {
    const found: InstallerDocument = await manifest(request, request.reference, call);
    if (isDigest(request.reference) || acceptsIndex(call.accept)) return found;
    const digest = defaultPlatform(found);
    return digest === null ? found : manifest(request, digest, call);
  }

  return {
    async manifest(request, call) {
      const { version, ...found } = await manifestHere(request, call);
      if (outside === null || request.target.kind !== "installer") return found;
      const { repository } = request.target;
      const location =
        version === undefined
          ? await outside.find(repository, "manifests", found.digest)
          : await outside.tagged(repository, version, found.digest);
      return location === null ? found : { ...found, location };
    },
    async blob({ target, reference }, call) {
      if (target.kind === "own") return own.blob(target, reference);
      if (target.kind === "source") return source.blob(target, reference, call.signal);
      const found = await installers.blob(target, reference);
      const location = (await outside?.find(target.repository, "blobs", reference)) ?? null;
      return location === null ? found : { ...found, location };
    },
    async referrers({ target, reference }, call) {
      if (target.kind === "own") return own.referrers(target, reference, call.artifactType);
      return target.kind === "source"
        ? source.referrers(target, reference, call.artifactType, call.signal)
        : installers.referrers(target, reference, call.artifactType);
    },
    async tags({ target }, call) {
      return page(target.repository, [...(await tagsOf(target, call.signal))].sort(), call);
    },
  };
}

/** The image that a client without any idea of indexes gets: linux/amd64, as registries have always done. */
function defaultPlatform(document: RegistryDocument): string | null {
  const index = indexSchema.safeParse(JSON.parse(Buffer.from(document.bytes).toString("utf8")));
  if (!index.success) return null;
  const entry = index.data.manifests.find(
    ({ platform }) => platform?.os === "linux" && platform.architecture === "amd64",
  );
  return entry?.digest ?? null;
}

function page(name: string, tags: string[], { last, most }: { last?: string; most?: number }): TagPage {
  const rest = last === undefined ? tags : tags.filter((tag) => tag > last);
  const shown = most === undefined ? rest : rest.slice(0, most);
  return { name, tags: shown, more: shown.length < rest.length };
}
