/** The releases on the way, each with the check of its own. */
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  /** The last one is the target. */
  stops: string[];
  hrefOf: (version: string) => string;
}

export function UpgradeStops({ words, stops, hrefOf }: Props) {
  const { t } = words;
  return (
    <>
      <p className="max-w-prose text-sm text-soft">{t("upgrade.stops.hint")}</p>
      <ol className="flex flex-wrap items-center gap-2 text-sm">
        {stops.map((version, index) => (
          <li key={version} className="flex items-center gap-2">
            {index > 0 && <span aria-hidden="true">→</span>}
            {index === stops.length - 1 ? (
              <span className="font-semibold">{version}</span>
            ) : (
              <a className="link" href={hrefOf(version)}>
                {version}
              </a>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
