/** The page of one extension or overlay; both addresses lead here. */
import { notFound } from "next/navigation";
import { EntryHead } from "../../components/catalog/entry-head.tsx";
import { ImageInside } from "../../components/catalog/image-inside.tsx";
import { ImageTable } from "../../components/catalog/image-table.tsx";
import { ReleaseGrid } from "../../components/catalog/release-grid.tsx";
import type { Words } from "../../components/words/translator.ts";
import { ARCHES, type Arch } from "../../lib/domain/asset.ts";
import type { CatalogEntry, EntryKind } from "../../lib/domain/catalog/catalog-index.ts";
import { entryPath } from "../../lib/domain/catalog/catalog-query.ts";
import { imageSpans, minorGrid } from "../../lib/domain/catalog/version-spans.ts";
import { pageContext } from "../../lib/services/current.ts";
import { requestWords } from "../request-words.ts";
import { lookInside } from "./look-inside.ts";

/** The text of a path segment; one that is not encoded as it should be stays as it is. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

interface OccurrencesProps {
  words: Words;
  entry: CatalogEntry;
  /** All that were read. */
  releases: string[];
  /** The release whose image is shown below. */
  current: string;
  insideHref: (talos: string) => string;
}

/** Its images, and which releases have it. */
function Occurrences({ words, entry, releases, current, insideHref }: OccurrencesProps) {
  const { t } = words;
  const rows = minorGrid(
    releases,
    entry.versions.map((version) => version.talos),
  );
  return (
    <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <section aria-labelledby="images" className="space-y-3">
        <h2 id="images" className="text-lg font-semibold">
          {t("entry.versions")}
        </h2>
        <ImageTable
          words={words}
          spans={imageSpans(entry.versions)}
          insideHref={insideHref}
          current={current}
        />
      </section>
      <section aria-labelledby="grid" className="space-y-3">
        <h2 id="grid" className="text-lg font-semibold">
          {t("entry.where")}
        </h2>
        <ReleaseGrid words={words} rows={rows} />
      </section>
    </div>
  );
}

interface Props {
  kind: EntryKind;
  name: string;
  query: URLSearchParams;
}

/** Everything about an entry; the "not found" page when no known release has it. */
export async function EntryPage({ kind, name, query }: Props) {
  const words = await requestWords();
  const { catalog, releases } = pageContext().services;
  const entry = await catalog.find(kind, name);
  if (entry === null) notFound();
  const index = await catalog.index();
  const arch: Arch =
    ARCHES.find((one) => one === query.get("arch")) ?? (kind === "overlay" ? "arm64" : "amd64");
  const [newest] = entry.versions;
  const image = entry.versions.find((version) => version.talos === query.get("talos")) ?? newest;
  if (image === undefined) notFound();
  const inside = await lookInside(catalog, image, arch, query.get("read") === "true");
  const href = (talos: string, one: Arch) =>
    `${entryPath(entry)}?${new URLSearchParams({ talos, arch: one })}#inside`;
  const newestRelease = (await releases.summaries()).find((release) => release.version === newest?.talos);
  return (
    <div className="space-y-10">
      <EntryHead words={words} entry={entry} sample={newestRelease?.sample ?? false} />
      <Occurrences
        words={words}
        entry={entry}
        releases={index.releases}
        current={image.talos}
        insideHref={(talos) => href(talos, arch)}
      />
      <ImageInside
        words={words}
        image={image}
        arch={arch}
        inside={inside}
        archHref={(one) => href(image.talos, one)}
        readHref={href(image.talos, arch).replace("#inside", "&read=true#inside")}
      />
    </div>
  );
}
