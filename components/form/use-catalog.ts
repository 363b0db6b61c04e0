"use client";
/** The extensions of the chosen version, fetched when the version changes. */
import { useEffect, useRef, useState } from "react";
import type { CatalogExtension } from "../../lib/domain/release.ts";

export interface CatalogState {
  /** Null while nothing is known. */
  extensions: CatalogExtension[] | null;
  state: "ready" | "loading" | "failed";
}

async function fetchCatalog(version: string, signal: AbortSignal): Promise<CatalogExtension[]> {
  const reply = await fetch(`/version/v${version}/extensions/official`, { signal });
  if (!reply.ok) throw new Error(await reply.text());
  const list: CatalogExtension[] = await reply.json();
  return list;
}

/** Keeps what it fetched. `known` is false for a version the source does not offer: nothing is asked then. */
export function useCatalog(
  version: string,
  known: boolean,
  initial: { version: string; extensions: CatalogExtension[] | null },
): CatalogState {
  const kept = useRef(new Map<string, CatalogExtension[]>());
  const [catalog, setCatalog] = useState<CatalogState>({
    extensions: initial.extensions,
    state: initial.extensions === null && known ? "failed" : "ready",
  });
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      if (initial.extensions !== null) kept.current.set(initial.version, initial.extensions);
      return;
    }
    if (!known) return setCatalog({ extensions: null, state: "ready" });
    const have = kept.current.get(version);
    if (have) return setCatalog({ extensions: have, state: "ready" });
    const stop = new AbortController();
    setCatalog((before) => ({ ...before, state: "loading" }));
    fetchCatalog(version, stop.signal).then(
      (extensions) => {
        kept.current.set(version, extensions);
        setCatalog({ extensions, state: "ready" });
      },
      () => {
        if (!stop.signal.aborted) setCatalog({ extensions: null, state: "failed" });
      },
    );
    return () => stop.abort();
  }, [version, known, initial]);
  return catalog;
}
