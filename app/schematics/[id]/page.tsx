/** The files of one schematic for one machine, and what to do with them. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { InstallSection } from "../../../components/result/install-section.tsx";
import { MainFile } from "../../../components/result/main-file.tsx";
import { OtherFiles } from "../../../components/result/other-files.tsx";
import { OwnSection } from "../../../components/result/own-section.tsx";
import { PxeSection } from "../../../components/result/pxe-section.tsx";
import { ResultHead } from "../../../components/result/result-head.tsx";
import { ResultPart } from "../../../components/result/result-part.tsx";
import { SchematicSection } from "../../../components/result/schematic-section.tsx";
import { SnippetSection } from "../../../components/result/snippet-section.tsx";
import { Notice } from "../../../components/ui/notice.tsx";
import type { Words } from "../../../components/words/translator.ts";
import { writeSide } from "../../../lib/domain/compare-side.ts";
import { downloadsFor } from "../../../lib/domain/form/downloads.ts";
import { openPath } from "../../../lib/domain/form/form-of-schematic.ts";
import { writeMachineTarget } from "../../../lib/domain/machine-target.ts";
import { mayBecomePreset } from "../../../lib/domain/preset.ts";
import type { Schematic } from "../../../lib/domain/schematic-types.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";
import { findFileStates } from "./file-states.ts";
import { findResult, type Result } from "./result-target.ts";
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

/** What the page says of a found choice, with the address that leads back to it. */
function Head({ words, result, publicUrl }: { words: Words; result: Result; publicUrl: string }) {
  const { t } = words;
  const { stored, release, target, machine } = result;
  const { id, schematic } = stored;
  const { version } = release;
  const query = new URLSearchParams(writeMachineTarget(target));
  const links = [
    { href: openPath(stored, target), label: t("result.change") },
    { href: `/compare?a=${writeSide({ id, version })}`, label: t("result.compare") },
    { href: `/upgrade?id=${id}&from=${version}&${query}`, label: t("result.upgrade-check") },
    ...(mayBecomePreset(schematic)
      ? [{ href: `/presets/new?schematic=${id}&version=${version}&${query}`, label: t("preset.new") }]
      : []),
  ];
  return (
    <ResultHead
      {...{ words, id, version, links }}
      machine={machine ?? t("target.metal.in")}
      arch={target.arch}
      secureboot={target.secureboot}
      sample={release.sample}
      inside={insideOf(schematic)}
      address={`${publicUrl}/schematics/${id}?version=${version}&${query}`}
    />
  );
}

export default async function ResultPage({ params, searchParams }: Props) {
  const { id } = await params;
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const context = pageContext();
  const { services, publicUrl } = context;
  const result = await findResult(services, id, query);
  if (result === null) notFound();
  const { version } = result.release;
  const { first, others, pxe } = downloadsFor(result.target);
  const files = await findFileStates(services, { schematicId: id, version, files: [...first, ...others] });
  const main = first.length > 0 ? files[0] : undefined;
  const place = { base: `${publicUrl}/image/${id}/${version}`, schematic: id, version };
  const snippets = await snippetContext(context, result);
  return (
    <div className="space-y-8 print:space-y-3">
      <Head words={words} result={result} publicUrl={publicUrl} />
      {query.get("differs") === "true" && <Notice tone="bad">{words.t("result.differs")}</Notice>}
      <ResultPart id="files" title={words.t("result.files")}>
        {main ? (
          <MainFile words={words} file={main} {...place} />
        ) : (
          <p className="text-sm text-soft">{words.t("result.none")}</p>
        )}
      </ResultPart>
      <SnippetSection
        words={words}
        context={snippets}
        wanted={query.get("snippet")}
        hrefOf={(snippet) => `${pagePath(id, query, "snippet", snippet)}#use`}
      />
      <PxeSection words={words} context={snippets} pxe={pxe} />
      <InstallSection words={words} context={snippets} />
      <OwnSection words={words} used={await findUsedOwn(services, result)} />
      <OtherFiles words={words} files={main ? files.slice(1) : files} {...place} />
      <SchematicSection
        words={words}
        canonical={result.stored.canonical}
        schematic={result.stored.schematic}
        publicUrl={publicUrl}
        reveal={query.get("reveal") === "configuration"}
        revealHref={`${pagePath(id, query, "reveal", "configuration")}#schematic`}
      />
    </div>
  );
}
