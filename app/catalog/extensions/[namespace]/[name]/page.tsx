/** One system extension over all releases. */
import type { Metadata } from "next";
import { nameOfSegments } from "../../../../../lib/domain/catalog/catalog-query.ts";
import { type PageQuery, toQuery } from "../../../../page-query.ts";
import { decodedSegment, EntryPage } from "../../../entry-page.tsx";

interface Props {
  params: Promise<{ namespace: string; name: string }>;
  searchParams: Promise<PageQuery>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodedSegment((await params).name) };
}

export default async function ExtensionPage({ params, searchParams }: Props) {
  const { namespace, name } = await params;
  const whole = nameOfSegments(decodedSegment(namespace), decodedSegment(name));
  return EntryPage({ kind: "extension", name: whole, query: toQuery(await searchParams) });
}
