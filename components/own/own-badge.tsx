/** Says beside a name that it is not official, and whether it stands in place of something official. */
import type { OwnMark } from "../../lib/domain/own-mark.ts";
import { Badge } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

export function OwnBadge({ t, mark }: { t: Words["t"]; mark: OwnMark | null }) {
  if (mark === null) return null;
  return <Badge tone={mark === "replaces" ? "warn" : "accent"}>{t(`own.mark.${mark}`)}</Badge>;
}
