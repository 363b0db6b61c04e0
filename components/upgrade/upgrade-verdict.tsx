/** The answer on top of the page: fits, fits after changes, or what stands in the way. */

import type { UpgradeReport } from "../../lib/services/catalog/contracts.ts";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

/** How many things have to be decided before the schematic fits. */
export const openCount = ({ check }: UpgradeReport): number =>
  check.extensions.filter(({ after, action }) => after === null && action === "keep").length +
  check.findings.filter((finding) => finding.level === "problem").length;

/** What the migrated schematic does otherwise. */
const changeCount = ({ check }: UpgradeReport): number =>
  check.leftOut.length + check.extensions.filter(({ action }) => action !== "keep").length;

export function UpgradeVerdict({ words, report }: { words: Words; report: UpgradeReport }) {
  const { t } = words;
  const { check, to } = report;
  const tone = check.ready ? "border-good" : "border-bad";
  const sentence = !check.ready
    ? words.plural("upgrade.open", openCount(report))
    : check.migrated.unchanged
      ? t("upgrade.fits")
      : words.plural("upgrade.fits-changed", changeCount(report));
  return (
    <div className={`border-l-2 py-1 pl-4 ${tone}`}>
      <p className="text-lg font-semibold">{sentence}</p>
      <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
        <IdMark id={report.stored.id} />
        <span>
          {report.from === null
            ? t("upgrade.to-version", { to })
            : t("catalog.span", { from: report.from, to })}
        </span>
      </p>
    </div>
  );
}
