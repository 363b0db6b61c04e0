/** Builds as a table that folds to two lines each on narrow screens. */
import type { BuildView } from "../../lib/services/contracts.ts";
import { IdMark } from "../ui/id-mark.tsx";
import { FoldingTable } from "../ui/table.tsx";
import type { Words } from "../words/translator.ts";
import { StateBadge } from "./state-badge.tsx";

/** Milliseconds from claim to end; null before. */
const tookMs = ({ startedAt, finishedAt }: BuildView): number | null =>
  startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null;

function Row({ words, build, longest }: { words: Words; build: BuildView; longest: number }) {
  const took = tookMs(build);
  const running = build.state === "building" || build.state === "uploading";
  return (
    <tr className="border-t border-line align-middle max-md:grid max-md:grid-cols-[1fr_auto] max-md:gap-x-4 max-md:gap-y-1 max-md:py-3 md:hover:bg-accent-wash">
      <td className="md:px-3 md:py-3 md:pl-0">
        <a href={`/builds/${build.id}`} className="link break-all font-mono text-sm">
          {build.path}
        </a>
      </td>
      <td className="max-md:order-3 text-sm max-md:text-soft md:px-3">{build.version}</td>
      <td className="max-md:order-4 md:px-3">
        <IdMark id={build.schematicId} />
      </td>
      <td className="max-md:text-right md:px-3">
        <StateBadge words={words} state={build.state} />
        {running && (
          <span className="ml-2 text-sm">{words.t("percent", { percent: Math.floor(build.percent) })}</span>
        )}
      </td>
      <td className="text-sm max-md:order-6 max-md:text-right md:w-28 md:px-3">
        {took !== null && words.duration(took)}
        {took !== null && (
          <span
            aria-hidden="true"
            className="mt-1 block h-[3px] rounded-full bg-accent/60 max-md:hidden"
            style={{ width: `${Math.max(2, (took / longest) * 100)}%` }}
          />
        )}
      </td>
      <td className="text-sm text-soft max-md:order-5 md:px-3 md:pr-0 md:text-right">
        <time dateTime={build.queuedAt.toISOString()}>{words.date(build.queuedAt)}</time>
      </td>
    </tr>
  );
}

export function BuildTable({ words, builds }: { words: Words; builds: BuildView[] }) {
  const { t } = words;
  const longest = Math.max(1, ...builds.map((build) => tookMs(build) ?? 0));
  const columns = [
    t("builds.file"),
    t("version.title"),
    t("schematic"),
    t("builds.state"),
    t("builds.took"),
    t("builds.asked"),
  ];
  return (
    <FoldingTable columns={columns} align="text-left last:text-right">
      {builds.map((build) => (
        <Row key={build.id} words={words} build={build} longest={longest} />
      ))}
    </FoldingTable>
  );
}
