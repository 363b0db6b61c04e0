/** Own extensions: which sources there are, and the ways to bring more. */
import type { Metadata } from "next";
import { AddSourceForm } from "../../components/own/add-source-form.tsx";
import { ProblemNotice } from "../../components/own/problem-notice.tsx";
import { SignIn, SignOut } from "../../components/own/sign-in.tsx";
import { SourceList } from "../../components/own/source-list.tsx";
import { UploadForm } from "../../components/own/upload-form.tsx";
import { CodeLine } from "../../components/ui/code-line.tsx";
import { Notice } from "../../components/ui/notice.tsx";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { hasExpired, lastRefusal, mayChange } from "./page-access.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.own") };
}

export default async function OwnExtensionsPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { t } = words;
  const { services, publicUrl } = pageContext();
  const [sources, changeable] = [await services.own.list(), await mayChange()];
  const { mode } = services.own.access;
  const token = mode === "admin" ? ' -H "Authorization: Bearer $TOKEN"' : "";
  return (
    <div className="max-w-4xl space-y-10">
      <header>
        <h1 className="text-xl font-semibold tracking-tight">{t("nav.own")}</h1>
        <p className="mt-1 max-w-prose text-soft">{t("own.lead")}</p>
      </header>
      <ProblemNotice words={words} query={query} refusal={await lastRefusal()} expired={await hasExpired()} />
      {mode === "off" && <Notice tone="plain">{t("own.off")}</Notice>}
      {sources.length === 0 ? (
        <p className="border-t border-line py-6 text-soft">{t("own.empty")}</p>
      ) : (
        <SourceList words={words} sources={sources} />
      )}
      {mode === "admin" && !changeable && <SignIn words={words} />}
      {mode === "admin" && changeable && <SignOut words={words} />}
      {changeable && (
        <>
          <section aria-labelledby="upload" className="space-y-4 border-t border-line pt-6">
            <h2 id="upload" className="text-lg font-semibold">
              {t("own.upload")}
            </h2>
            <UploadForm override={mode === "admin"} />
            <CodeLine
              caption={t("own.upload.curl")}
              text={`curl -fT daemon.tar.gz${token} ${publicUrl}/api/v1/extensions/team/daemon`}
            />
          </section>
          <section aria-labelledby="registry" className="border-t border-line pt-6">
            <h2 id="registry" className="text-lg font-semibold">
              {t("own.registry")}
            </h2>
            <AddSourceForm words={words} override={mode === "admin"} />
          </section>
        </>
      )}
    </div>
  );
}
