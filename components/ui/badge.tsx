/** A short word about the thing before it. */
import type { ReactNode } from "react";

const TONES = {
  plain: "border-line text-soft",
  accent: "border-accent/50 text-accent bg-accent-wash",
  good: "border-good/40 text-good",
  bad: "border-bad/40 text-bad bg-bad-wash",
  warn: "border-warn/40 text-warn bg-warn-wash",
} as const;

export type Tone = keyof typeof TONES;

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 whitespace-nowrap rounded-md border px-1.5 text-xs font-medium ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
