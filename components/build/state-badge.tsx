/** The state of a build in one word. */
import type { BuildState } from "../../lib/services/contracts.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

const TONES: Record<BuildState, Tone> = {
  queued: "plain",
  building: "accent",
  uploading: "accent",
  ready: "good",
  failed: "bad",
  cancelled: "plain",
};

export function StateBadge({ words, state }: { words: Words; state: BuildState }) {
  return <Badge tone={TONES[state]}>{words.t(`state.${state}`)}</Badge>;
}
