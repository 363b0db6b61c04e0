/** The form: what a person wants, and what will come of it. */
import { CastingForm } from "../components/form/casting-form.tsx";
import { OpenBox } from "../components/form/open-box.tsx";
import { Notice } from "../components/ui/notice.tsx";
import { readForm } from "../lib/domain/form/form-address.ts";
import { settleForm } from "../lib/domain/form/form-state.ts";
import { EMPTY_IP, IP_FIELDS, type StaticIp } from "../lib/domain/form/static-ip.ts";
import { pageContext } from "../lib/services/current.ts";
import { findOpened, newestOf, offeredHistories, offeredVersions } from "./form-offer.ts";
import { type PageQuery, toQuery } from "./page-query.ts";
import { requestWords } from "./request-words.ts";

/** Fields of a static address that came back because something in them is wrong. */
function readIp(query: URLSearchParams): StaticIp | null {
  if (!IP_FIELDS.some((name) => query.has(`ip-${name}`))) return null;
  const entries = IP_FIELDS.map((name) => [name, query.get(`ip-${name}`) ?? ""]);
  return { ...EMPTY_IP, ...Object.fromEntries(entries) };
}

export default async function FormPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const { t } = await requestWords();
  const { services } = pageContext();
  const versions = await offeredVersions(services);
  const opened = await findOpened(services, query);
  const form = settleForm(readForm(query, newestOf(versions), opened));
  const offered = versions.some((item) => item.version === form.version);
  const extensions = offered ? await services.releases.extensions(form.version).catch(() => null) : null;
  const named = query.get("from") ?? query.get("schematic-id");
  return (
    <>
      <div className="mb-6 space-y-3">
        <div>
          <h1 className="text-xl font-semibold tracking-tight text-balance">{t("form.title")}</h1>
          <p className="mt-1 max-w-prose text-soft">{t("form.lead")}</p>
        </div>
        {named !== null && opened === null && <Notice tone="bad">{t("open.missing", { id: named })}</Notice>}
        {query.get("problem") === "refused" && <Notice tone="bad">{t("form.refused")}</Notice>}
        <OpenBox />
      </div>
      {versions.length === 0 ? (
        <Notice>{t("form.no-versions")}</Notice>
      ) : (
        <CastingForm
          initial={form}
          opened={opened}
          versions={versions}
          extensions={extensions}
          histories={await offeredHistories(services)}
          search={{ words: query.get("search") ?? "", purpose: query.get("purpose") ?? "" }}
          usualSizes={await services.assets.usualSizes()}
          ip={readIp(query)}
        />
      )}
    </>
  );
}
