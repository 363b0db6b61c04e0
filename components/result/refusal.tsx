/** Why a file cannot be had, and what to do about it. */
import type { FileState } from "./file-state.ts";

export function Refusal({ file }: { file: FileState }) {
  if (file.state !== "refused") return null;
  return (
    <p className="max-w-prose text-sm text-soft">
      {file.reason} {file.hint}
    </p>
  );
}
