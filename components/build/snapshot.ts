/** A build as it travels to the browser: the view with its dates as texts, the same shape as the API's JSON. */
import type { BuildView } from "../../lib/services/contracts.ts";
import { knowingQuery } from "./build-address.ts";

export type BuildSnapshot = Omit<BuildView, "queuedAt" | "startedAt" | "finishedAt" | "asset"> & {
  queuedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  asset: { sizeBytes: number; sha256: string; builtInMs: number } | null;
};

/** The snapshot of a view. */
export function toSnapshot(build: BuildView): BuildSnapshot {
  const { asset, queuedAt, startedAt, finishedAt, ...rest } = build;
  return {
    ...rest,
    queuedAt: queuedAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    asset: asset && { sizeBytes: asset.sizeBytes, sha256: asset.sha256, builtInMs: asset.builtInMs },
  };
}

/** The build as it is now, from the API. Throws when it cannot be had. */
export async function fetchSnapshot(build: BuildSnapshot): Promise<BuildSnapshot> {
  const reply = await fetch(`/api/v1/builds/${build.id}${knowingQuery(build)}`, { cache: "no-store" });
  if (!reply.ok) throw new Error(`build ${build.id}: ${reply.status}`);
  const snapshot: BuildSnapshot = await reply.json();
  return snapshot;
}
