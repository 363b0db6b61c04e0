"use client";
/** What a finished build gives: the file, how to fetch it, how to check it, how to boot it. */
import { CodeLine } from "../ui/code-line.tsx";
import { useWords } from "../words/words-provider.tsx";
import type { BuildSnapshot } from "./snapshot.ts";
import { StateBadge } from "./state-badge.tsx";

interface Props {
  build: BuildSnapshot;
  asset: NonNullable<BuildSnapshot["asset"]>;
  /** Address of the file; null when this reader must not know it. */
  url: string | null;
  /** Null when the platform does not boot over the network. */
  pxeUrl: string | null;
}

export function BuildReady({ build, asset, url, pxeUrl }: Props) {
  const words = useWords();
  const { t, size, duration } = words;
  return (
    <section aria-labelledby="ready" className="space-y-5">
      <h2 id="ready" className="sr-only">
        {t("state.ready")}
      </h2>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        {url !== null && (
          <a href={url} className="button button-primary min-h-11 px-6 text-base" download>
            {t("file.download")}
          </a>
        )}
        <p>
          <StateBadge words={words} state="ready" />{" "}
          <span className="font-semibold">{size(asset.sizeBytes)}</span>
          <span className="text-soft"> · {t("build.took", { time: duration(asset.builtInMs) })}</span>
        </p>
      </div>
      {url !== null && (
        <CodeLine
          caption={t("file.curl")}
          text={`curl -fLO ${url} && curl -fsSL ${url}.sha256 | sha256sum -c`}
        />
      )}
      <CodeLine caption="SHA-256" text={asset.sha256} />
      {pxeUrl !== null && <CodeLine caption="iPXE" text={`chain --autofree ${pxeUrl}`} />}
      <p className="text-sm text-soft">{t("build.file", { file: build.path })}</p>
    </section>
  );
}
