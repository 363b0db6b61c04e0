/** What was brought here lies under a name that nobody can pull; adopting shows it under its own, tag included. */
import { z } from "zod";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { OFFERED_REPOSITORIES, OWN_REPOSITORIES, type OwnPin } from "../../domain/own-sources.ts";
import type { RegistryBlob, RegistryManifest } from "../../domain/registry-content.ts";
import { AppError } from "../../errors/app-error.ts";

/** Where an image lies before it is adopted. */
export const offeredRepository = (repository: string): string =>
  OFFERED_REPOSITORIES + repository.slice(OWN_REPOSITORIES.length);

/** Where the image of a pin can be read. */
export const repositoryOfPin = ({
  repository,
  adoptedAt,
}: Pick<OwnPin, "repository" | "adoptedAt">): string =>
  adoptedAt === null ? offeredRepository(repository) : repository;

const named = z.object({ digest: z.string() });
const documentSchema = z.object({
  manifests: z.array(named).prefault([]),
  config: named.nullish(),
  layers: z.array(named).prefault([]),
});

const parsed = ({ bytes }: RegistryManifest) =>
  documentSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));

/** Makes the image of a pin visible in our registry, whole and at once. Doing it again only moves the tag. */
export async function publishPin(rows: RegistryRepository, pin: OwnPin): Promise<void> {
  const { repository, tag, digest } = pin;
  const from = offeredRepository(repository);
  const find = async (one: string) =>
    (await rows.findManifest(from, one)) ?? (await rows.findManifest(repository, one));
  const top = await find(digest);
  if (top === null)
    throw new AppError("internal", `the image ${digest} of ${pin.name} is not in our registry any more`);
  const children = await Promise.all(parsed(top).manifests.map((child) => find(child.digest)));
  const manifests = [top, ...children.filter((child) => child !== null)];
  const digests = manifests.flatMap((manifest) => {
    const { config, layers } = parsed(manifest);
    return [...(config ? [config] : []), ...layers].map((blob) => blob.digest);
  });
  const blobs = await Promise.all(
    [...new Set(digests)].map(
      async (blob) => (await rows.findBlob(from, blob)) ?? (await rows.findBlob(repository, blob)),
    ),
  );
  const found: RegistryBlob[] = blobs.filter((blob) => blob !== null);
  await rows.put({ repository, manifests, blobs: found, tags: [{ tag, digest, planKey: null }] });
}
