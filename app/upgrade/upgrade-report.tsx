/** What an upgrade check found, part by part, with the choice of what is left out. */
import { WordDiff } from "../../components/compare/diff-view.tsx";
import { Part } from "../../components/ui/part.tsx";
import { ExtensionChecks } from "../../components/upgrade/extension-checks.tsx";
import { FindingList } from "../../components/upgrade/finding-list.tsx";
import { MigratedSchematic } from "../../components/upgrade/migrated-schematic.tsx";
import { UpgradeStops } from "../../components/upgrade/upgrade-stops.tsx";
import type { Words } from "../../components/words/translator.ts";
import { diffLists, isUnchanged } from "../../lib/domain/list-diff.ts";
import { schematicLines } from "../../lib/domain/schematic-diff.ts";
import { installerReference, upgradeCommand } from "../../lib/domain/snippets/addresses.ts";
import type { UpgradeReport, UpgradeRequest } from "../../lib/services/catalog/contracts.ts";
import { filesPath, upgradeFields } from "./upgrade-query.ts";

/** Ties the check boxes all over the page to the form below them. */
const CHOICE_FORM = "leave-out-form";

interface Props {
  words: Words;
  request: UpgradeRequest;
  report: UpgradeReport;
  /** Of the factory. */
  publicUrl: string;
}

/** Applies the check boxes; without anything to tick it is not there. */
function ChoiceForm({ words, request, report }: Omit<Props, "publicUrl">) {
  const { extensions, findings, leftOut } = report.check;
  const any =
    extensions.some(({ after }) => after === null) ||
    findings.some(({ part }) => part !== null) ||
    leftOut.length > 0;
  if (!any) return null;
  return (
    <form
      id={CHOICE_FORM}
      method="get"
      action="/upgrade"
      className="flex flex-wrap items-center gap-x-4 gap-y-2"
    >
      {upgradeFields({ ...request, leaveOut: [] }).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" className="button">
        {words.t("upgrade.apply")}
      </button>
      <span className="text-sm text-soft">{words.t("upgrade.apply.hint")}</span>
    </form>
  );
}

/** The schematic that fits, and the way to its files. */
function Migrated({ words, request, report, publicUrl }: Props) {
  const { t } = words;
  const { stored, target, to } = report;
  const { migrated } = report.check;
  const secret = (lines: number) => words.plural("result.secret", lines);
  const text = diffLists(
    schematicLines(stored.schematic, secret),
    schematicLines(migrated.schematic, secret),
  );
  const reference = installerReference({ publicUrl, schematicId: stored.id, version: to, ...target });
  return (
    <Part id="migrated" title={t(migrated.unchanged ? "upgrade.go" : "upgrade.migrated")}>
      <MigratedSchematic
        words={words}
        report={report}
        text={text}
        fields={upgradeFields({ ...request, to })}
        filesHref={filesPath(stored.id, to, target)}
        command={`# ${t("snippet.note.node")}\nNODE=10.0.0.2\n${upgradeCommand(reference)}`}
      />
    </Part>
  );
}

export function Report(props: Props) {
  const { words, request, report } = props;
  const { t } = words;
  const { commandLine, to } = report;
  const { extensions, findings, leftOut, stops } = report.check;
  const at = (version: string) =>
    `/upgrade?${new URLSearchParams(upgradeFields({ ...request, to: version }))}`;
  return (
    <div className="space-y-8">
      {extensions.length > 0 && (
        <Part id="extensions" title={t("extensions.title")}>
          <ExtensionChecks words={words} checks={extensions} form={CHOICE_FORM} />
        </Part>
      )}
      {findings.length + leftOut.length > 0 && (
        <Part id="findings" title={t("upgrade.findings")}>
          <FindingList words={words} findings={findings} leftOut={leftOut} to={to} form={CHOICE_FORM} />
        </Part>
      )}
      <ChoiceForm words={words} request={request} report={report} />
      {commandLine !== null && !isUnchanged(commandLine) && (
        <Part id="cmdline" title={t("compare.cmdline")}>
          <WordDiff words={words} items={commandLine} />
        </Part>
      )}
      {stops.length > 1 && (
        <Part id="stops" title={t("upgrade.stops")}>
          <UpgradeStops words={words} stops={stops} hrefOf={at} />
        </Part>
      )}
      <Migrated {...props} />
    </div>
  );
}
