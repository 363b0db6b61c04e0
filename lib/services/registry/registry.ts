/** The registry under /v2: installers built here, images of the source and own ones, behind one set of questions. */
import { z } from "zod";
import { isDigest } from "../../domain/digest.ts";
import type {
  InstallerRepository,
  OwnRepository,
  RegistryRequest,
  SourceRepository,
} from "../../domain/registry-path.ts";
import { acceptsIndex } from "./accept.ts";
import type {
  FoundDocument,
  ReferrersCall,
  RegistryCall,
  RegistryDocument,
  RegistryPart,
  RegistryService,
  TagPage,
} from "./contracts.ts";
import type { OutsideRegistry } from "./outside.ts";

const indexSchema = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      platform: z.object({ architecture: z.string(), os: z.string() }).nullish(),
    }),
  ),
});

interface Parts {
  installers: RegistryPart<InstallerRepository>;
  source: RegistryPart<SourceRepository>;
  own: RegistryPart<OwnRepository>;
}

/** Joins the parts. */
export function createRegistryService({
  outside,
  ...parts
}: Parts & {
  /** Where clients are sent for installers; null when they are served from here. */
  outside: OutsideRegistry | null;
}): RegistryService {
  return {
    async manifest({ target, reference }, call) {
      const { version, ...found } = await manifestHere(partOf(parts, target), reference, call);
      if (outside === null || target.kind !== "installer") return found;
      return version === undefined
        ? located(found, outside.find(target.repository, "manifests", found.digest))
        : located(found, outside.tagged(target.repository, version, found.digest));
    },
    async blob({ target, reference }, call) {
      const found = await partOf(parts, target).blob(reference, call);
      if (outside === null || target.kind !== "installer") return found;
      return located(found, outside.find(target.repository, "blobs", reference));
    },
    async referrers({ target, reference }, call) {
      return partOf(parts, target).referrers(reference, call);
    },
    async tags({ target }, call) {
      const tags = await partOf(parts, target).tags(call);
      return page(target.repository, tags.toSorted(), call);
    },
  };
}

type PartOfTarget = ReturnType<typeof bound>;

function partOf({ installers, source, own }: Parts, target: RegistryRequest["target"]): PartOfTarget {
  switch (target.kind) {
    case "installer":
      return bound(installers, target);
    case "source":
      return bound(source, target);
    case "own":
      return bound(own, target);
  }
}

/** The part with its target filled in, so that all parts look alike. */
function bound<Target>(part: RegistryPart<Target>, target: Target) {
  return {
    manifest: (reference: string, call: RegistryCall) => part.manifest(target, reference, call),
    blob: (digest: string, call: RegistryCall) => part.blob(target, digest, call),
    referrers: (digest: string, call: ReferrersCall) => part.referrers(target, digest, call),
    tags: (call: RegistryCall) => part.tags(target, call),
  };
}

async function manifestHere(
  part: PartOfTarget,
  reference: string,
  call: RegistryCall & { accept?: string },
): Promise<FoundDocument> {
  const found = await part.manifest(reference, call);
  if (isDigest(reference) || acceptsIndex(call.accept)) return found;
  const digest = defaultPlatform(found);
  return digest === null ? found : part.manifest(digest, call);
}

async function located<T>(found: T, place: Promise<string | null>): Promise<T & { location?: string }> {
  const location = await place;
  return { ...found, ...(location === null ? {} : { location }) };
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
