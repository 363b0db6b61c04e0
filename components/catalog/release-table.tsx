/** The releases of the source: state, what is missing, what they offer. */
import { writeCatalogQuery } from "../../lib/domain/catalog/catalog-query.ts";
import { isPrerelease } from "../../lib/domain/versions.ts";
import type { ReleaseSummary } from "../../lib/services/contracts.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { FoldingTable } from "../ui/table.tsx";
import type { Words } from "../words/translator.ts";

const TONES = { complete: "good", incomplete: "warn", broken: "bad" } as const satisfies Record<string, Tone>;

const ALL = { search: "", sort: "name", descending: false } as const;

interface Props {
  words: Words;
  /** Newest first. */
  releases: ReleaseSummary[];
  /** Releases whose catalogs were not read yet: their counts mean nothing. */
  unread: string[];
}

function Row({ words, release, unread }: { words: Words; release: ReleaseSummary; unread: boolean }) {
  const { t } = words;
  const { version, state, missing, sample, extensionCount, overlayCount } = release;
  const offered = state === "complete";
  const count = (list: "extensions" | "overlays", amount: number) => (
    <>
      <span className="mr-2 text-soft md:hidden">{t(`catalog.list.${list}`)}</span>
      {offered && !unread ? (
        <a className="link" href={writeCatalogQuery({ ...ALL, list, talos: version })}>
          {words.number(amount)}
          <span className="sr-only"> {t(`catalog.list.${list}`)}</span>
        </a>
      ) : (
        <span className="text-soft">{unread && offered ? t("catalog.reading") : "–"}</span>
      )}
    </>
  );
  return (
    <tr className="border-t border-line align-baseline max-md:grid max-md:grid-cols-[1fr_auto] max-md:gap-x-4 max-md:gap-y-1 max-md:py-3">
      <th scope="row" className="text-left text-sm font-medium md:px-3 md:py-2.5 md:pl-0">
        {offered ? (
          <a className="link" href={`/?version=${version.slice(1)}`}>
            {version}
          </a>
        ) : (
          version
        )}
      </th>
      <td className="max-md:text-right md:px-3">
        <span className="inline-flex flex-wrap justify-end gap-1.5">
          <Badge tone={TONES[state]}>{t(`catalog.state.${state}`)}</Badge>
          {sample && <Badge>{t("sample.short")}</Badge>}
          {isPrerelease(version) && <Badge>{t("version.prerelease")}</Badge>}
        </span>
        {missing.length > 0 && (
          <p className="mt-1 max-w-prose break-all text-left text-xs text-soft">
            {t("catalog.missing", { names: missing.join(", ") })}
          </p>
        )}
      </td>
      <td className="text-sm md:px-3">{count("extensions", extensionCount)}</td>
      <td className="text-sm max-md:text-right md:px-3 md:pr-0">{count("overlays", overlayCount)}</td>
    </tr>
  );
}

export function ReleaseTable({ words, releases, unread }: Props) {
  const { t } = words;
  const columns = [
    t("version.title"),
    t("catalog.col.state"),
    t("catalog.list.extensions"),
    t("catalog.list.overlays"),
  ];
  return (
    <FoldingTable className="mt-6 md:max-w-3xl" columns={columns}>
      {releases.map((release) => (
        <Row
          key={release.version}
          words={words}
          release={release}
          unread={unread.includes(release.version)}
        />
      ))}
    </FoldingTable>
  );
}
