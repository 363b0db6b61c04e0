/** The kind of a change as a word. */
import type { CatalogChange } from "../../lib/domain/release-diff.ts";
import type { ExtensionChange } from "../../lib/domain/schematic-diff.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

export type ChangeKind = ExtensionChange["change"] | CatalogChange["change"] | "changed";

const TONES: Record<ChangeKind, Tone> = {
  added: "good",
  removed: "bad",
  changed: "accent",
  moved: "accent",
  updated: "accent",
  renamed: "accent",
  rebuilt: "plain",
  unavailable: "warn",
  same: "plain",
};

export function ChangeBadge({ words, change }: { words: Words; change: ChangeKind }) {
  return <Badge tone={TONES[change]}>{words.t(`change.${change}`)}</Badge>;
}
