/** One source: where it is, whom it trusts, its images with their checks, and who uses it. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { PinCard } from "../../../components/own/pin-card.tsx";
import { ProblemNotice } from "../../../components/own/problem-notice.tsx";
import { sourceTitle } from "../../../components/own/source-list.tsx";
import { UsageNotice } from "../../../components/own/usage-notice.tsx";
import { Badge } from "../../../components/ui/badge.tsx";
import { Part } from "../../../components/ui/part.tsx";
import type { Words } from "../../../components/words/translator.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../lib/services/current.ts";
import type { OwnSourceView } from "../../../lib/services/own/contracts.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";
import { hasExpired, lastRefusal, mayChange } from "../page-access.ts";

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<PageQuery>;
}

const findSource = cache(async (id: string): Promise<OwnSourceView> => {
  try {
    return await pageContext().services.own.require(id);
  } catch (error) {
    if (isAppError(error) && error.code === "not_found") notFound();
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: sourceTitle(await findSource((await params).id)) };
}

const RELOAD_SECONDS = 5;
const ORDER = ["offered", "adopted", "retired"];

/** What the source is called and where it is, with what should be known of it. */
function Head({ words, source }: { words: Words; source: OwnSourceView }) {
  const { t } = words;
  return (
    <header className="space-y-2">
      <h1 className="break-all font-mono text-xl font-semibold tracking-tight">{sourceTitle(source)}</h1>
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Badge>{t(`own.kind.${source.kind}`)}</Badge>
        {source.kind !== "upload" && (
          <Badge tone={source.trust.rule === "off" ? "warn" : "good"}>
            {t(`own.trusts.${source.trust.rule}`)}
          </Badge>
        )}
        {source.override && <Badge tone="warn">{t("own.overrides")}</Badge>}
        {source.declared && <Badge>{t("own.declared")}</Badge>}
      </p>
      {source.reference !== null && (
        <p className="break-all font-mono text-sm text-soft">{source.reference}</p>
      )}
    </header>
  );
}

function DeleteForm({ words, action }: { words: Words; action: string }) {
  return (
    <form method="post" action={action}>
      <p className="mb-3 text-sm text-soft">{words.t("own.delete.hint")}</p>
      <button type="submit" className="button">
        {words.t("own.delete")}
      </button>
    </form>
  );
}

export default async function OwnSourcePage({ params, searchParams }: Props) {
  const source = await findSource((await params).id);
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const { services, publicUrl } = pageContext();
  const [changeable, usage] = [await mayChange(), await services.own.usage(source.id)];
  const tests = await services.bootTests.lastOf(source.pins.map((pin) => pin.id));
  const testing = tests.some((test) => test.finishedAt === null);
  const host = new URL(publicUrl).host;
  const pins = [...source.pins].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const path = `/extensions/${source.id}`;
  return (
    <div className="max-w-4xl space-y-8">
      {testing && (
        <noscript>
          <meta httpEquiv="refresh" content={String(RELOAD_SECONDS)} />
        </noscript>
      )}
      <Head words={words} source={source} />
      <ProblemNotice words={words} query={query} refusal={await lastRefusal()} expired={await hasExpired()} />
      {changeable && source.kind !== "upload" && (
        <form method="post" action={`${path}/look`}>
          <button type="submit" className="button">
            {t("own.look")}
          </button>
        </form>
      )}
      <section aria-label={t("own.images")}>
        {pins.length === 0 && <p className="border-t border-line py-6 text-soft">{t("own.nothing")}</p>}
        {pins.map((pin) => (
          <PinCard
            key={pin.id}
            {...{ words, pin, host, changeable }}
            test={tests.find((test) => test.pinId === pin.id) ?? null}
          />
        ))}
      </section>
      <Part id="usage" title={t("own.usage")} className="space-y-4">
        <UsageNotice words={words} usage={usage} />
        {changeable && !source.declared && <DeleteForm words={words} action={`${path}/delete`} />}
      </Part>
    </div>
  );
}
