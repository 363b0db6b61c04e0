/** How the factory does: parts, queue, workers, reuse, store, source. */
import type { Metadata } from "next";
import { FactoryParts } from "../../components/status/factory-parts.tsx";
import { SourceReport } from "../../components/status/source-report.tsx";
import { StoreReport } from "../../components/status/store-report.tsx";
import { WorkReport } from "../../components/status/work-report.tsx";
import { pageContext } from "../../lib/services/current.ts";
import { requestWords } from "../request-words.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.status") };
}

export default async function StatusPage() {
  const words = await requestWords();
  const { t } = words;
  const status = await pageContext().services.status.read();
  const broken = status.checks.filter((check) => !check.ok).length;
  return (
    <div className="space-y-10">
      <header>
        <h1 className="text-xl font-semibold tracking-tight">
          {broken === 0 ? t("status.good") : words.plural("status.broken", broken)}
        </h1>
        <p className="mt-1 text-soft">
          {t("status.lead")}{" "}
          <a href="/api/v1/status" className="link">
            /api/v1/status
          </a>
        </p>
      </header>
      <FactoryParts words={words} checks={status.checks} />
      <WorkReport words={words} status={status} />
      <StoreReport words={words} store={status.store} />
      <SourceReport words={words} status={status} />
    </div>
  );
}
