/** What an installer image says about itself: which choice it holds and what it was made from. */
import type { Recipe } from "./recipe-types.ts";
import { extensionImage } from "./release.ts";

/** Names below our own prefix; the others are those of the OCI image-spec, "Pre-Defined Annotation Keys". */
const OWN = "io.casthouse.";

/** Labels of the configuration and annotations of the manifest; the same for both. */
export function imageLabels(recipe: Recipe): Record<string, string> {
  const { version, profile, baseInstaller, extensions, overlay, imager } = recipe;
  return {
    "org.opencontainers.image.version": version,
    [`${OWN}version`]: version,
    ...(recipe.schematicId === "" ? {} : { [`${OWN}schematic`]: recipe.schematicId }),
    [`${OWN}platform`]: profile.platform,
    ...(recipe.externalUrl === "" ? {} : { [`${OWN}factory`]: recipe.externalUrl }),
    [`${OWN}source.imager`]: pinned(imager.repository, imager.digest),
    ...(baseInstaller === null
      ? {}
      : {
          "org.opencontainers.image.base.name": `${baseInstaller.repository}:${version}`,
          "org.opencontainers.image.base.digest": baseInstaller.digest,
          [`${OWN}source.installer`]: pinned(baseInstaller.repository, baseInstaller.digest),
        }),
    ...(extensions.length === 0
      ? {}
      : {
          [`${OWN}source.extensions`]: extensions
            .map(extensionImage)
            .map(({ repository, digest }) => pinned(repository, digest))
            .join(" "),
        }),
    ...(overlay === null ? {} : { [`${OWN}source.overlay`]: overlaySource(overlay) }),
    ...(recipe.sample ? { [`${OWN}sample`]: "true" } : {}),
  };
}

const pinned = (repository: string, digest: string): string => `${repository}@${digest}`;

/** The image whose files the installer carries. */
function overlaySource({ entry, installer }: NonNullable<Recipe["overlay"]>): string {
  return installer === undefined
    ? pinned(entry.image, entry.digest)
    : pinned(installer.repository, installer.digest);
}
