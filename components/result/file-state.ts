/** Where a file stands: there, being built, to be built, or not to be had. */
import type { FileChoice } from "../../lib/domain/form/downloads.ts";
import type { BuildView, ReadyAsset } from "../../lib/services/contracts.ts";

export type FileState = FileChoice &
  (
    | { state: "ready"; asset: Pick<ReadyAsset, "sizeBytes" | "sha256" | "builtInMs"> }
    /** Small enough to be made while it is sent. */
    | { state: "inline" }
    /** `follow`: the page follows this build; it cannot follow many at once. */
    | { state: "building"; build: Pick<BuildView, "id" | "percent">; follow: boolean }
    | { state: "absent" }
    | { state: "refused"; reason: string; hint: string }
  );

/** What every row of a list of files needs to know. */
export interface FilePlace {
  /** Address of the folder of files, without trailing slash. */
  base: string;
  schematic: string;
  version: string;
}

/** Address of a picture of the address of a file. */
export const qrAddress = ({ schematic, version }: FilePlace, path: string): string =>
  `/schematics/${schematic}/qr?${new URLSearchParams({ version, path })}`;
