/** A schematic against another version: does it fit, and the one that does; bare it asks for both. */
import type { Metadata } from "next";
import { Badge } from "../../components/ui/badge.tsx";
import { Notice } from "../../components/ui/notice.tsx";
import { UpgradeForm } from "../../components/upgrade/upgrade-form.tsx";
import { UpgradeVerdict } from "../../components/upgrade/upgrade-verdict.tsx";
import { readMachineTarget } from "../../lib/domain/machine-target.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import type { UpgradeReport, UpgradeRequest } from "../../lib/services/catalog/contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { newestVersion } from "../schematics/[id]/result-target.ts";
import { unlessAway } from "../unless-away.ts";
import { readUpgrade } from "./upgrade-query.ts";
import { Report } from "./upgrade-report.tsx";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("upgrade.title") };
}

/** The report, or why there is none: a schematic or version that does not exist, a source that cannot be asked. */
async function check(request: UpgradeRequest): Promise<UpgradeReport | string> {
  try {
    return await pageContext().services.upgrades.check(request);
  } catch (error) {
    if (isAppError(error) && error.code !== "internal") return error.message;
    throw error;
  }
}

export default async function UpgradePage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { services, publicUrl } = pageContext();
  const versions = [...(await unlessAway(services.releases.versions(), []))].reverse();
  const request = readUpgrade(query);
  const written = query.get("id") ?? "";
  const found = request === null ? null : await check(request);
  const report = found === null || typeof found === "string" ? null : found;
  const newest = await newestVersion(services);
  const form = (
    <UpgradeForm
      words={words}
      id={written}
      wrong={written !== "" && request === null}
      from={report?.from ?? request?.from ?? ""}
      to={report?.to ?? request?.to ?? newest ?? ""}
      versions={versions}
      target={readMachineTarget(query)}
    />
  );
  return (
    <div className="max-w-5xl space-y-6">
      <header>
        <h1 className="flex flex-wrap items-center gap-3 text-xl font-semibold tracking-tight">
          {words.t("upgrade.title")}
          {report?.sample && <Badge tone="warn">{words.t("sample.long")}</Badge>}
        </h1>
        {report === null && <p className="mt-1 max-w-prose text-soft">{words.t("upgrade.lead")}</p>}
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
          <summary className="text-sm font-medium">{words.t("upgrade.other")}</summary>
          <div className="mt-4">{form}</div>
        </details>
      )}
      {report !== null && request !== null && (
        <Report words={words} request={request} report={report} publicUrl={publicUrl} />
      )}
    </div>
  );
}
