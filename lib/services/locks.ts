/** The lock of a model: every source image that files of a schematic and version are made from, by digest. */
import { versionTag } from "../domain/versions.ts";
import type { ReleaseService, SchematicService } from "./contracts.ts";
import type { LockedImage, LockService } from "./evidence-contracts.ts";
import { modelInputs, requireSchematic } from "./model-inputs.ts";

export interface LockServiceOptions {
  schematics: SchematicService;
  releases: ReleaseService;
  /** What references shown to people start with: "ghcr.io". */
  publicName: string;
}

/** The service; nothing is fetched, the catalog knows all digests. */
export function createLockService({ schematics, releases, publicName }: LockServiceOptions): LockService {
  return {
    async lock(schematicId, written) {
      const { schematic } = await requireSchematic(schematics, schematicId);
      const release = await releases.require(versionTag(written));
      const { version, sample, imager, baseInstaller } = release;
      const { extensions, overlay } = modelInputs(schematic, release);
      const tagged = (kind: LockedImage["kind"], { repository, digest }: typeof imager): LockedImage => ({
        ...{ kind, name: repository, repository, digest },
        ref: `${publicName}/${repository}:${version}@${digest}`,
      });
      const inputs: LockedImage[] = [tagged("imager", imager)];
      if (baseInstaller !== null) inputs.push(tagged("base-installer", baseInstaller));
      for (const { name, ref, digest } of extensions)
        inputs.push({ kind: "extension", name, repository: name, digest, ref: `${ref}@${digest}` });
      if (overlay !== null) {
        const { name, image, ref, digest } = overlay;
        inputs.push({ kind: "overlay", name, repository: image, digest, ref: `${ref}@${digest}` });
      }
      return { v: 1, schematic: schematicId, version, sample, inputs };
    },
  };
}
