/** One board overlay over all releases. */
import type { Metadata } from "next";
import { type PageQuery, toQuery } from "../../../page-query.ts";
import { decodedSegment, EntryPage } from "../../entry-page.tsx";

interface Props {
  params: Promise<{ name: string }>;
  searchParams: Promise<PageQuery>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodedSegment((await params).name) };
}

export default async function OverlayPage({ params, searchParams }: Props) {
  const name = decodedSegment((await params).name);
  return EntryPage({ kind: "overlay", name, query: toQuery(await searchParams) });
}
