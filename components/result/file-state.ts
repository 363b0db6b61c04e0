/** Where a file stands: there, being built, to be built, or not to be had. */
import type { FileChoice } from "../../lib/domain/form/downloads.ts";
import type { BuildView, ReadyAsset } from "../../lib/services/contracts.ts";

export type FileState = FileChoice &
  (
    | { state: "ready"; asset: Pick<ReadyAsset, "sizeBytes" | "sha256" | "builtInMs"> }
    /** Small enough to be made while it is sent. */
    | { state: "inline" }
    | { state: "building"; build: Pick<BuildView, "id" | "percent"> }
    | { state: "absent" }
    | { state: "refused"; reason: string; hint: string }
  );
