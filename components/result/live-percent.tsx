"use client";
/** How far a running build is; follows its events and asks for the page anew when it has ended. */
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { Badge } from "../ui/badge.tsx";
import { useWords } from "../words/words-provider.tsx";

interface Props {
  buildId: string;
  schematic: string;
  /** When the page was made. */
  percent: number;
  /** False: shows that number and nothing more. Browsers open six connections to a host, and events keep one each. */
  follow: boolean;
}

export function LivePercent({ buildId, schematic, percent, follow }: Props) {
  const { t } = useWords();
  const router = useRouter();
  const [live, setLive] = useState(percent);
  useEffect(() => {
    if (!follow) return;
    const source = new EventSource(`/api/v1/builds/${buildId}/events?schematic=${schematic}`);
    source.addEventListener("progress", (event) => {
      const { overall } = JSON.parse(event.data);
      if (typeof overall === "number") setLive(overall);
    });
    source.addEventListener("done", () => {
      source.close();
      router.refresh();
    });
    return () => source.close();
  }, [buildId, schematic, follow, router]);
  return <Badge tone="accent">{t("file.building", { percent: Math.floor(live) })}</Badge>;
}
