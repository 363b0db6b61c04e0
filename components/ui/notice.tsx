/** A sentence that should be read before going on. */
import type { ReactNode } from "react";

const TONES = {
  warn: "border-warn bg-warn-wash",
  bad: "border-bad bg-bad-wash",
  plain: "border-edge bg-sunken",
} as const;

interface Props {
  tone?: keyof typeof TONES;
  children: ReactNode;
  id?: string;
}

export function Notice({ tone = "warn", children, id }: Props) {
  return (
    <div id={id} className={`border-l-2 px-3 py-2 text-sm ${TONES[tone]}`}>
      {children}
    </div>
  );
}
