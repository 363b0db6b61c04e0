/** Two schematics, two releases, or both, side by side; bare it asks for them. */
import type { Metadata } from "next";
import type { ReactNode } from "react";
import { CompareForm } from "../../components/compare/compare-form.tsx";
import { CompareHead } from "../../components/compare/compare-head.tsx";
import { ComparisonView } from "../../components/compare/comparison-view.tsx";
import { Notice } from "../../components/ui/notice.tsx";
import type { Words } from "../../components/words/translator.ts";
import { readSide, type WrittenSide, writeSide } from "../../lib/domain/compare-side.ts";
import {
  type MachineTarget,
  readMachineTarget,
  writeMachineTarget,
} from "../../lib/domain/machine-target.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import type { Comparison } from "../../lib/services/catalog/contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { unlessAway } from "../unless-away.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("compare.title") };
}

interface Sides {
  before: WrittenSide;
  after: WrittenSide;
}

/** The comparison, or why there is none: a schematic or version that does not exist, a source that cannot be asked. */
async function compare(words: Words, sides: Sides, target: MachineTarget): Promise<Comparison | string> {
  const { comparing } = pageContext().services;
  try {
    return await comparing.compare(sides, target, (lines) => words.plural("result.secret", lines));
  } catch (error) {
    if (isAppError(error) && error.code !== "internal") return error.message;
    throw error;
  }
}

/** Address of the same comparison the other way round. */
const swapped = ({ before, after }: Comparison, target: MachineTarget): string =>
  `/compare?${new URLSearchParams({ a: writeSide(after), b: writeSide(before), ...writeMachineTarget(target) })}`;

/** Leads on to the upgrade check where that is the next question: one schematic on two versions. */
function upgradeHref({ before, after, target }: Comparison): string | null {
  if (before.id === null || before.id !== after.id || before.version === after.version) return null;
  const query = { id: before.id, from: before.version, to: after.version, ...writeMachineTarget(target) };
  return `/upgrade?${new URLSearchParams(query)}`;
}

/** What is asked, with the reason where there is no answer to it. */
function Question({ words, problem, form }: { words: Words; problem: string | null; form: ReactNode }) {
  const { t } = words;
  return (
    <div className="max-w-4xl space-y-6">
      <div>
        <h1 className="text-xl font-semibold tracking-tight">{t("compare.title")}</h1>
        <p className="mt-1 max-w-prose text-soft">{t("compare.lead")}</p>
      </div>
      {problem !== null && (
        <Notice tone="bad">
          <span lang="en">{problem}</span>
        </Notice>
      )}
      {form}
    </div>
  );
}

export default async function ComparePage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const words = await requestWords();
  const versions = [...(await unlessAway(pageContext().services.releases.versions(), []))].reverse();
  const target = readMachineTarget(query);
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  const [before, after] = [readSide(a), readSide(b)];
  const asked = a !== "" || b !== "";
  const wrong = { before: asked && before === null, after: asked && after === null };
  const found = before !== null && after !== null ? await compare(words, { before, after }, target) : null;
  const form = (
    <CompareForm words={words} before={a} after={b} wrong={wrong} versions={versions} target={target} />
  );
  if (found === null || typeof found === "string")
    return <Question words={words} problem={found} form={form} />;
  return (
    <div className="max-w-5xl space-y-8">
      <CompareHead
        words={words}
        comparison={found}
        swapHref={swapped(found, target)}
        upgradeHref={upgradeHref(found)}
        form={form}
      />
      <ComparisonView words={words} comparison={found} />
    </div>
  );
}
