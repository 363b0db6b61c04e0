/** The installer half of the registry: finds what was published, builds what was not. */
import { createHash } from "node:crypto";
import { ARCHES, type Arch } from "../../domain/asset.ts";
import { assetFileName } from "../../domain/asset-path.ts";
import { digestHex, isDigest } from "../../domain/digest.ts";
import type { RegistryManifest } from "../../domain/registry-content.ts";
import {
  type InstallerName,
  type InstallerRepository,
  parseInstallerName,
  registryError,
} from "../../domain/registry-path.ts";
import { comparePrecedence, parseVersion } from "../../domain/versions.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import { isTag } from "../../oci/reference.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { AssetRequest, ReleaseService, ResolvedAsset, SchematicService } from "../contracts.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import type { RegistryBlobFile, RegistryCall, RegistryDocument, RegistryPart } from "./contracts.ts";
import { type PublishOptions, publishInstaller } from "./publish.ts";
import { referrersIndex } from "./referrers.ts";
import { badDigest, badSubject, blobUnknown, manifestUnknown } from "./refusals.ts";

export interface InstallersOptions extends PublishOptions {
  schematics: SchematicService;
  releases: ReleaseService;
  /** Resolves an installer's path to the plan of its manifest. */
  resolve: (request: AssetRequest) => Promise<ResolvedAsset>;
  /** Names what makes the evidence, such as the signing key: images published with another are published anew. */
  evidenceIdentity: string;
}

/** Means the newest stable version; listed when that one exists. */
const LATEST = "latest";

/** Everything under <image>/<schematic>. */
export function createInstallers(options: InstallersOptions): RegistryPart<InstallerRepository> {
  const flights = new SingleFlight<RegistryManifest>();
  return {
    async manifest(target, reference, call) {
      const name = await requireImage(options, target);
      if (reference.includes(":")) return findByDigest(options, target, reference);
      const version = await versionOf(options, reference);
      if (version === null) return findByTag(options, target, reference);
      return { ...(await findOrBuild(options, flights, { target, name, version }, call)), version };
    },
    async blob(target, digest) {
      await requireImage(options, target);
      return findBlob(options, target, digest);
    },
    async referrers(target, digest, { artifactType }) {
      await requireImage(options, target);
      if (!isDigest(digest)) throw badSubject(digest);
      return referrersIndex(await options.rows.referrers(target.repository, digest), artifactType);
    },
    async tags(target) {
      await requireImage(options, target);
      const tags = await options.rows.tags(target.repository);
      const newest = await versionOf(options, LATEST).catch(() => null);
      return newest !== null && tags.includes(newest) ? [...tags, LATEST] : tags;
    },
  };
}

/** not_found for a schematic that was never posted, then invalid_input for a name that is no installer's. */
async function requireImage(
  { schematics }: InstallersOptions,
  target: InstallerRepository,
): Promise<InstallerName> {
  const { schematicId, image } = target;
  if ((await schematics.find(schematicId)) === null) {
    throw registryError("not_found", "NAME_UNKNOWN", `schematic ID "${schematicId}" not found`, {
      hint: "POST the schematic to /schematics first; the reply holds its ID.",
    });
  }
  return parseInstallerName(image);
}

/** The version a tag means, null when the tag is not a version. */
async function versionOf({ releases }: InstallersOptions, tag: string): Promise<string | null> {
  if (tag !== LATEST) return tag.startsWith("v") && parseVersion(tag.slice(1))?.build === "" ? tag : null;
  const stable = (await releases.versions()).flatMap((version) => {
    const parsed = parseVersion(version.slice(1));
    return parsed !== null && parsed.prerelease.length === 0 ? [{ version, parsed }] : [];
  });
  return stable.sort((a, b) => comparePrecedence(a.parsed, b.parsed)).at(-1)?.version ?? null;
}

async function findByDigest(
  { rows }: InstallersOptions,
  { repository }: InstallerRepository,
  digest: string,
): Promise<RegistryDocument> {
  if (!isDigest(digest)) throw badDigest(digest);
  const manifest = await rows.findManifest(repository, digest);
  if (manifest === null) throw manifestUnknown(digest);
  return manifest;
}

async function findByTag(
  options: InstallersOptions,
  target: InstallerRepository,
  tag: string,
): Promise<RegistryDocument> {
  const row = isTag(tag) ? await options.rows.findTag(target.repository, tag) : null;
  if (row === null) throw manifestUnknown(tag);
  return findByDigest(options, target, row.digest);
}

interface Wanted {
  target: InstallerRepository;
  name: InstallerName;
  version: string;
}

/**
 * What was published stands as long as it is what the same tag would give now; where that cannot be told (the version left
 * the list, the source is away) it stands too.
 */
async function findOrBuild(
  options: InstallersOptions,
  flights: SingleFlight<RegistryManifest>,
  wanted: Wanted,
  call: RegistryCall,
): Promise<RegistryDocument> {
  const { target, version } = wanted;
  const row = await options.rows.findTag(target.repository, version);
  let platforms: { arch: Arch; asset: ResolvedAsset }[];
  try {
    platforms = await resolvePlatforms(options, wanted);
  } catch (error) {
    if (row === null) throw error;
    return findByDigest(options, target, row.digest);
  }
  const planKey = keyOf(platforms, options.evidenceIdentity);
  if (row?.planKey === planKey) return findByDigest(options, target, row.digest);
  const { repository } = target;
  return flights.join(
    `${repository}:${version}`,
    (signal) =>
      publishInstaller(options, { repository, tag: version, planKey, platforms }, { ...call, signal }),
    { signal: call.signal },
  );
}

async function resolvePlatforms(
  { releases, resolve }: InstallersOptions,
  { target, name, version }: Wanted,
): Promise<{ arch: Arch; asset: ResolvedAsset }[]> {
  await releases.require(version).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    throw notFound(
      `error enhancing profile from schematic: failed to get base installer: ${error.message}`,
      error.extra,
    );
  });
  return Promise.all(
    ARCHES.map(async (arch) => {
      const path = assetFileName({ kind: "installer", arch, outFormat: "raw", ...name });
      return { arch, asset: await resolve({ schematicId: target.schematicId, version, path }) };
    }),
  );
}

const keyOf = (platforms: readonly { asset: ResolvedAsset }[], evidence: string): string =>
  createHash("sha256")
    .update([...platforms.map(({ asset }) => asset.assetKey), evidence].join("\n"))
    .digest("hex");

async function findBlob(
  { rows, store }: InstallersOptions,
  { repository }: InstallerRepository,
  digest: string,
): Promise<RegistryBlobFile> {
  if (!isDigest(digest)) throw badDigest(digest);
  const blob = await rows.findBlob(repository, digest);
  if (blob === null) throw blobUnknown(digest);
  const key = blobKey(digestHex(digest));
  if ((await store.head(key))?.sizeBytes !== blob.sizeBytes) {
    // Somebody removed it from the store: the next pull of the tag finds no image and builds it again.
    await rows.forgetBuilt(repository);
    throw blobUnknown(digest);
  }
  return { ...blob, open: (range, signal) => store.get(key, range, signal) };
}
