/** Where a file stands, in a word: its size, how far its build is, or what happens when it is asked for. */
import { Badge } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";
import type { FileState } from "./file-state.ts";
import { LivePercent } from "./live-percent.tsx";

interface Props {
  words: Words;
  file: FileState;
  schematic: string;
}

export function FileBadge({ words, file, schematic }: Props) {
  const { t, size } = words;
  switch (file.state) {
    case "ready":
      return (
        <span className="flex items-baseline gap-2 text-sm">
          <Badge tone="good">{t("file.ready")}</Badge>
          <span>{size(file.asset.sizeBytes)}</span>
        </span>
      );
    case "building":
      return (
        <LivePercent
          buildId={file.build.id}
          schematic={schematic}
          percent={file.build.percent}
          follow={file.follow}
        />
      );
    case "inline":
      return <Badge>{t("file.inline")}</Badge>;
    case "absent":
      return <Badge>{t("file.absent")}</Badge>;
    case "refused":
      return <Badge>{t("file.refused")}</Badge>;
  }
}
