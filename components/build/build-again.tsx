"use client";
/**
 * The button that tries the same file anew, also right after a failure. Nothing for those who do not know the schematic, nor
 * for a file of a lock, which would be made of what tags mean today.
 */
import { BuildFields } from "../result/file-action.tsx";
import { useWords } from "../words/words-provider.tsx";
import type { BuildSnapshot } from "./snapshot.ts";

export function BuildAgain({ build }: { build: BuildSnapshot }) {
  const { t } = useWords();
  if (build.schematicHidden || build.lockId !== null) return null;
  return (
    <form method="post" action="/builds/start">
      <BuildFields request={{ schematic: build.schematicId, version: build.version, path: build.path }} />
      <input type="hidden" name="again" value="1" />
      <button type="submit" className="button button-primary">
        {t("build.again")}
      </button>
    </form>
  );
}
