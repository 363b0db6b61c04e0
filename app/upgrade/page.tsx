/** A schematic against another version: does it fit, and the one that does; bare it asks for both. */
import type { Metadata } from "next";
import type { ReactNode } from "react";
import { WordDiff } from "../../components/compare/diff-view.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Notice } from "../../components/ui/notice.tsx";
import { ExtensionChecks } from "../../components/upgrade/extension-checks.tsx";
import { FindingList } from "../../components/upgrade/finding-list.tsx";
import { MigratedSchematic } from "../../components/upgrade/migrated-schematic.tsx";
import { UpgradeForm } from "../../components/upgrade/upgrade-form.tsx";
import { UpgradeStops } from "../../components/upgrade/upgrade-stops.tsx";
import { UpgradeVerdict } from "../../components/upgrade/upgrade-verdict.tsx";
import type { Words } from "../../components/words/translator.ts";
import { diffLists, isUnchanged } from "../../lib/domain/list-diff.ts";
import { readMachineTarget } from "../../lib/domain/machine-target.ts";
import { schematicLines } from "../../lib/domain/schematic-diff.ts";
import { installerReference, upgradeCommand } from "../../lib/domain/snippets/addresses.ts";
import { isPrerelease } from "../../lib/domain/versions.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import type { UpgradeReport, UpgradeRequest } from "../../lib/services/catalog-contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { filesPath, readUpgrade, upgradeFields } from "./upgrade-query.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("upgrade.title") };
}

/** Ties the check boxes all over the page to the form below them. */
const CHOICE_FORM = "leave-out-form";

/** The report, or why there is none: a schematic or version that does not exist. */
async function check(request: UpgradeRequest): Promise<UpgradeReport | string> {
  try {
    return await pageContext().services.upgrades.check(request);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return error.message;
    throw error;
  }
}

function Part({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="space-y-3 border-t border-line pt-6">
      <h2 id={id} className="text-lg font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}

/** Applies the check boxes; without anything to tick it is not there. */
function ChoiceForm({
  words,
  request,
  report,
}: {
  words: Words;
  request: UpgradeRequest;
  report: UpgradeReport;
}) {
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

function Report({
  words,
  request,
  report,
}: {
  words: Words;
  request: UpgradeRequest;
  report: UpgradeReport;
}) {
  const { t } = words;
  const { check: found, commandLine, stored, target, to } = report;
  const { extensions, findings, leftOut, migrated, stops } = found;
  const secret = (lines: number) => words.plural("result.secret", lines);
  const text = diffLists(
    schematicLines(stored.schematic, secret),
    schematicLines(migrated.schematic, secret),
  );
  const { publicUrl } = pageContext();
  const place = { publicUrl, schematicId: stored.id, version: to, ...target };
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
      <Part id="migrated" title={t(migrated.unchanged ? "upgrade.go" : "upgrade.migrated")}>
        <MigratedSchematic
          words={words}
          report={report}
          text={text}
          fields={upgradeFields({ ...request, to })}
          filesHref={filesPath(stored.id, to, target)}
          command={`# ${t("snippet.note.node")}\nNODE=10.0.0.2\n${upgradeCommand(installerReference(place))}`}
        />
      </Part>
    </div>
  );
}

export default async function UpgradePage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const { releases } = pageContext().services;
  const versions = [...(await releases.versions())].reverse();
  const request = readUpgrade(query);
  const written = query.get("id") ?? "";
  const found = request === null ? null : await check(request);
  const report = found === null || typeof found === "string" ? null : found;
  const newest = versions.find((version) => !isPrerelease(version)) ?? versions[0] ?? "";
  const form = (
    <UpgradeForm
      words={words}
      id={written}
      wrong={written !== "" && request === null}
      from={report?.from ?? request?.from ?? ""}
      to={report?.to ?? request?.to ?? newest}
      versions={versions}
      target={readMachineTarget(query)}
    />
  );
  return (
    <div className="max-w-5xl space-y-6">
      <header>
        <h1 className="flex flex-wrap items-center gap-3 text-xl font-semibold tracking-tight">
          {t("upgrade.title")}
          {report?.sample && <Badge tone="warn">{t("sample.long")}</Badge>}
        </h1>
        {report === null && <p className="mt-1 max-w-prose text-soft">{t("upgrade.lead")}</p>}
      </header>
      {typeof found === "string" && (
        <Notice tone="bad">
          <span lang="en">{found}</span>
        </Notice>
      )}
      {report !== null && <UpgradeVerdict words={words} report={report} />}
      {report === null ? (
        form
      ) : (
        <details>
          <summary className="text-sm font-medium">{t("upgrade.other")}</summary>
          <div className="mt-4">{form}</div>
        </details>
      )}
      {report !== null && request !== null && <Report words={words} request={request} report={report} />}
    </div>
  );
}
