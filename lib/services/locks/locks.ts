/** The lock of a model: every source image that files of a schematic and version are made from, by digest. */
import { createHash } from "node:crypto";
import type { ModelLockRepository } from "../../db/model-lock-repository.ts";
import { SHA256_HEX } from "../../domain/digest.ts";
import {
  type LockBuilder,
  type LockedInput,
  type ModelLock,
  parseModelLock,
} from "../../domain/model-lock.ts";
import { OWN_REPOSITORIES } from "../../domain/own-sources.ts";
import { baseInstallerRepository } from "../../domain/quirks.ts";
import { extensionImage } from "../../domain/release.ts";
import { versionTag } from "../../domain/versions.ts";
import { invalidInput, notFound } from "../../errors/app-error.ts";
import { canonicalJson } from "../../imager/plan/canonical-json.ts";
import type { ReleaseService, SchematicService } from "../contracts.ts";
import type { LockService } from "../evidence/contracts.ts";
import { IMAGER } from "../releases/discovery.ts";
import { modelInputs, requireSchematic } from "./model-inputs.ts";

export interface LockServiceOptions {
  schematics: SchematicService;
  releases: ReleaseService;
  rows: ModelLockRepository;
  /** What references shown to people start with: "ghcr.io". */
  publicName: string;
  /** What besides the inputs decides bytes here. */
  builder: LockBuilder;
}

/** All images of releases lie below it; others of the source may be somebody's secret that only the factory can read. */
const NAMESPACE = "siderolabs/";

/** The service; nothing is fetched, the catalog knows all digests. */
export function createLockService(options: LockServiceOptions): LockService {
  const { schematics, releases, rows, publicName, builder } = options;
  return {
    async lock(schematicId, written) {
      const { schematic } = await requireSchematic(schematics, schematicId);
      const release = await releases.require(versionTag(written));
      const { version, sample, imager, baseInstaller } = release;
      const { extensions, overlay } = modelInputs(schematic, release);
      const tagged = (kind: LockedInput["kind"], { repository, digest }: typeof imager): LockedInput => ({
        ...{ kind, name: repository, repository, digest, source: "release" },
        ref: `${publicName}/${repository}:${version}@${digest}`,
      });
      const inputs: LockedInput[] = [tagged("imager", imager)];
      if (baseInstaller !== null) inputs.push(tagged("base-installer", baseInstaller));
      for (const extension of extensions) {
        const { name, ref, own } = extension;
        const { repository, digest } = extensionImage(extension);
        const source = own === undefined ? "release" : "own";
        inputs.push({ kind: "extension", name, repository, digest, source, ref: `${ref}@${digest}` });
      }
      if (overlay !== null) {
        const { name, image, ref, digest, own } = overlay;
        const source = own === undefined ? "release" : "own";
        inputs.push({ kind: "overlay", name, repository: image, digest, source, ref: `${ref}@${digest}` });
      }
      return { v: 1, schematic: schematicId, version, sample, inputs, builder };
    },
    async keep(document) {
      const lock = parseModelLock(document);
      await requireSchematic(schematics, lock.schematic);
      for (const input of lock.inputs) requireOfRelease(input, lock.version);
      const id = lockId(lock);
      await rows.insert(id, lock);
      return { id, lock };
    },
    async require(id) {
      const found = SHA256_HEX.test(id) ? await rows.find(id) : null;
      if (found !== null) return parseModelLock(found);
      throw notFound(`lock ${JSON.stringify(id.slice(0, 100))} not found`, {
        hint: "POST the lock to /api/v1/locks first; the reply holds its ID.",
      });
    },
  };
}

/** Equal locks have equal IDs, however they are written. */
export function lockId(lock: ModelLock): string {
  return createHash("sha256").update(canonicalJson(lock)).digest("hex");
}

function requireOfRelease({ kind, repository, source }: LockedInput, version: string): void {
  const isOwn = source === "own" && (kind === "extension" || kind === "overlay");
  if (isOwn && repository.startsWith(OWN_REPOSITORIES)) return;
  const expected = { imager: IMAGER, "base-installer": baseInstallerRepository(versionTag(version)) };
  const fits =
    kind === "imager" || kind === "base-installer"
      ? repository === expected[kind]
      : repository.startsWith(NAMESPACE);
  if (fits) return;
  throw invalidInput(`${repository} is no image of a Talos release`, {
    hint: `Locks name ${expected.imager}, ${expected["base-installer"]} and images below ${NAMESPACE}.`,
  });
}
