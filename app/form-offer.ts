/** What the form page offers: versions, the extensions of one, and since when there are which. */
import type { OfferedVersion } from "../components/form/step-props.ts";
import { type ExtensionHistory, extensionHistories } from "../lib/domain/form/extension-history.ts";
import type { Opened } from "../lib/domain/form/form-address.ts";
import { isPrerelease } from "../lib/domain/versions.ts";
import { isAppError } from "../lib/errors/is-app-error.ts";
import type { Services } from "../lib/services/contracts.ts";
import { unlessAway } from "./unless-away.ts";

/** Complete releases, newest first. */
export async function offeredVersions({ releases }: Services): Promise<OfferedVersion[]> {
  return (await unlessAway(releases.summaries(), []))
    .filter((release) => release.state === "complete")
    .map(({ version, sample }) => ({ version: version.replace(/^v/, ""), sample }));
}

/** The version that a new form starts with; empty when none is offered. */
export const newestOf = (versions: readonly OfferedVersion[]): string =>
  (versions.find((item) => !isPrerelease(item.version)) ?? versions[0])?.version ?? "";

/** Since when there are which extensions, over the releases whose catalogs were read. Nothing while they cannot be. */
export async function offeredHistories({ catalog }: Services): Promise<ExtensionHistory[]> {
  try {
    return extensionHistories(await catalog.index());
  } catch (error) {
    if (isAppError(error)) return [];
    throw error;
  }
}

/** The stored schematic that an address or a form names under "from"; null without one or when nobody knows it. */
export async function findOpened({ schematics }: Services, query: URLSearchParams): Promise<Opened | null> {
  // "schematic-id" is how other image factories write it.
  const stored = await schematics.find(query.get("from") ?? query.get("schematic-id") ?? "");
  return stored === null ? null : { id: stored.id, schematic: stored.schematic };
}
