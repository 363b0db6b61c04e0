/** The files of one schematic for one machine, and what to do with them. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { InstallSection } from "../../../components/result/install-section.tsx";
import { MainFile } from "../../../components/result/main-file.tsx";
import { OtherFiles } from "../../../components/result/other-files.tsx";
import { OwnSection } from "../../../components/result/own-section.tsx";
import { ResultHead } from "../../../components/result/result-head.tsx";
import { SchematicText } from "../../../components/result/schematic-text.tsx";
import { SnippetSection } from "../../../components/result/snippet-section.tsx";
import { CodeLine } from "../../../components/ui/code-line.tsx";
import { Notice } from "../../../components/ui/notice.tsx";
import { writeSide } from "../../../lib/domain/compare-side.ts";
import { downloadsFor } from "../../../lib/domain/form/downloads.ts";
import { openPath } from "../../../lib/domain/form/form-of-schematic.ts";
import { writeMachineTarget } from "../../../lib/domain/machine-target.ts";
import { mayBecomePreset } from "../../../lib/domain/preset.ts";
import type { Schematic } from "../../../lib/domain/schematic-types.ts";
import { chainLine } from "../../../lib/domain/snippets/addresses.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";
import { findFileStates } from "./file-states.ts";
import { findResult } from "./result-target.ts";
import { snippetContext } from "./snippet-context.ts";
import { findUsedOwn } from "./used-own.ts";

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<PageQuery>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await params).id.slice(0, 12) };
}

/** This page with one part of its query changed. */
function pagePath(id: string, query: URLSearchParams, name: string, value: string): string {
  const wanted = new URLSearchParams(query);
  wanted.set(name, value);
  return `/schematics/${id}?${wanted}`;
}

const insideOf = ({ customization }: Schematic): string[] => [
  ...(customization.systemExtensions?.officialExtensions ?? []),
  ...(customization.extraKernelArgs ?? []),
];

export default async function ResultPage({ params, searchParams }: Props) {
  const { id } = await params;
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const context = pageContext();
  const result = await findResult(context.services, id, query);
  if (result === null) notFound();
  const { stored, release, target, machine } = result;
  const { version } = release;
  const { t } = words;
  const { first, others, pxe } = downloadsFor(target);
  const files = await findFileStates(context.services, {
    ...{ schematicId: id, version },
    files: [...first, ...others],
  });
  const main = first.length > 0 ? files[0] : undefined;
  const place = { base: `${context.publicUrl}/image/${id}/${version}`, schematic: id, version };
  const snippets = await snippetContext(context, result);
  const machineQuery = new URLSearchParams(writeMachineTarget(target));
  const links = [
    { href: openPath(stored, target), label: t("result.change") },
    { href: `/compare?a=${writeSide({ id, version })}`, label: t("result.compare") },
    { href: `/upgrade?id=${id}&from=${version}&${machineQuery}`, label: t("result.upgrade-check") },
    ...(mayBecomePreset(stored.schematic)
      ? [{ href: `/presets/new?schematic=${id}&version=${version}&${machineQuery}`, label: t("preset.new") }]
      : []),
  ];
  return (
    <div className="space-y-8 print:space-y-3">
      <ResultHead
        words={words}
        id={id}
        version={version}
        machine={machine ?? t("target.metal.in")}
        arch={target.arch}
        secureboot={target.secureboot}
        sample={release.sample}
        inside={insideOf(stored.schematic)}
        links={links}
        address={`${context.publicUrl}/schematics/${id}?version=${version}&${machineQuery}`}
      />
      {query.get("differs") === "true" && <Notice tone="bad">{t("result.differs")}</Notice>}
      <section
        aria-labelledby="files"
        className="space-y-3 border-t border-line pt-6 print:space-y-1.5 print:pt-2"
      >
        <h2 id="files" className="text-lg font-semibold">
          {t("result.files")}
        </h2>
        {main ? (
          <MainFile words={words} file={main} {...place} />
        ) : (
          <p className="text-sm text-soft">{t("result.none")}</p>
        )}
      </section>
      <SnippetSection
        words={words}
        context={snippets}
        wanted={query.get("snippet")}
        hrefOf={(snippet) => `${pagePath(id, query, "snippet", snippet)}#use`}
      />
      {pxe !== null && (
        <section
          aria-labelledby="pxe"
          className="space-y-3 border-t border-line pt-6 print:space-y-1.5 print:pt-2"
        >
          <h2 id="pxe" className="text-lg font-semibold">
            {t("result.pxe")}
          </h2>
          <p className="text-sm text-soft">{t("result.pxe.hint")}</p>
          <CodeLine caption="iPXE" text={chainLine(snippets, pxe)} />
        </section>
      )}
      <InstallSection words={words} context={snippets} />
      <OwnSection words={words} used={await findUsedOwn(context.services, result)} />
      <OtherFiles words={words} files={main ? files.slice(1) : files} {...place} />
      <section
        aria-labelledby="schematic"
        className="no-print space-y-3 border-t border-line pt-6 print:space-y-1.5 print:pt-2"
      >
        <h2 id="schematic" className="text-lg font-semibold">
          {t("schematic")}
        </h2>
        <p className="max-w-prose text-sm text-soft">{t("result.schematic.hint")}</p>
        <SchematicText
          words={words}
          canonical={stored.canonical}
          schematic={stored.schematic}
          reveal={query.get("reveal") === "configuration"}
          revealHref={`${pagePath(id, query, "reveal", "configuration")}#schematic`}
        />
        <CodeLine
          caption={t("result.store")}
          text={`curl -X POST --data-binary @schematic.yaml ${context.publicUrl}/schematics`}
        />
      </section>
    </div>
  );
}
