/** The files of one schematic for one machine, ready to be fetched. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { MainFile, OtherFile } from "../../../components/result/file-row.tsx";
import { ResultHead } from "../../../components/result/result-head.tsx";
import { SchematicText } from "../../../components/result/schematic-text.tsx";
import { CodeLine } from "../../../components/ui/code-line.tsx";
import { Notice } from "../../../components/ui/notice.tsx";
import { downloadsFor } from "../../../lib/domain/form/downloads.ts";
import { openPath } from "../../../lib/domain/form/form-of-schematic.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";
import { findFileStates } from "./file-states.ts";
import { findResult } from "./result-target.ts";

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<PageQuery>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await params).id.slice(0, 12) };
}

function revealHref(id: string, query: URLSearchParams): string {
  const wanted = new URLSearchParams(query);
  wanted.set("reveal", "configuration");
  return `/schematics/${id}?${wanted}#schematic`;
}

export default async function ResultPage({ params, searchParams }: Props) {
  const { id } = await params;
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const { services, publicUrl, pxeUrl } = pageContext();
  const result = await findResult(services, id, query);
  if (result === null) notFound();
  const { stored, release, target, machine } = result;
  const downloads = downloadsFor(target);
  const question = { schematicId: id, version: release.version };
  const first = await findFileStates(services, { ...question, files: downloads.first });
  const others = await findFileStates(services, { ...question, files: downloads.others });
  const { t } = words;
  const row = {
    words,
    base: `${publicUrl}/image/${id}/${release.version}`,
    schematic: id,
    version: release.version,
  };
  return (
    <div className="space-y-10">
      <ResultHead
        words={words}
        id={id}
        version={release.version}
        machine={machine ?? t("target.metal.in")}
        arch={target.arch}
        secureboot={target.secureboot}
        sample={release.sample}
        editHref={openPath(stored, target)}
      />
      {query.get("differs") === "true" && <Notice tone="bad">{t("result.differs")}</Notice>}
      {first.length > 0 && (
        <section aria-labelledby="files">
          <h2 id="files" className="text-lg font-semibold">
            {t("result.files")}
          </h2>
          <ul className="divide-y divide-line">
            {first.map((file, index) => (
              <MainFile key={file.path} {...row} file={file} primary={index === 0} />
            ))}
          </ul>
        </section>
      )}
      {downloads.pxe !== null && (
        <section aria-labelledby="pxe" className="space-y-3 border-t border-line pt-6">
          <h2 id="pxe" className="text-lg font-semibold">
            {t("result.pxe")}
          </h2>
          <p className="text-sm text-soft">{t("result.pxe.hint")}</p>
          <CodeLine
            caption="iPXE"
            text={`chain --autofree ${pxeUrl}/pxe/${id}/${release.version}/${downloads.pxe}`}
          />
        </section>
      )}
      <details className="border-t border-line pt-6">
        <summary className="text-lg font-semibold">{words.plural("result.others", others.length)}</summary>
        <ul className="mt-2 divide-y divide-line">
          {others.map((file) => (
            <OtherFile key={file.path} {...row} file={file} />
          ))}
        </ul>
      </details>
      <section aria-labelledby="schematic" className="space-y-3 border-t border-line pt-6">
        <h2 id="schematic" className="text-lg font-semibold">
          {t("schematic")}
        </h2>
        <p className="max-w-prose text-sm text-soft">{t("result.schematic.hint")}</p>
        <SchematicText
          words={words}
          canonical={stored.canonical}
          schematic={stored.schematic}
          reveal={query.get("reveal") === "configuration"}
          revealHref={revealHref(id, query)}
        />
        <CodeLine
          caption={t("result.store")}
          text={`curl -X POST --data-binary @schematic.yaml ${publicUrl}/schematics`}
        />
      </section>
    </div>
  );
}
