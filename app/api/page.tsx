/** What machines can ask this server, written for people. */
import type { Metadata } from "next";
import { OperationEntry } from "../../components/page/operation-entry.tsx";
import type { Words } from "../../components/words/translator.ts";
import { pageContext } from "../../lib/services/current.ts";
import { requestWords } from "../request-words.ts";
import { curlOf, type OperationGroup, operationGroups } from "./operations.ts";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("nav.api") };
}

/** All operations by name; there is room for them on wide screens only. */
function Contents({ words, groups }: { words: Words; groups: OperationGroup[] }) {
  return (
    <nav
      aria-label={words.t("api.contents")}
      className="max-lg:hidden lg:sticky lg:top-6 lg:max-h-[calc(100dvh-3rem)] lg:self-start lg:overflow-y-auto"
    >
      {groups.map(({ tag, operations }) => (
        <div key={tag} className="mb-4">
          <p className="eyebrow mb-1">{tag}</p>
          <ul className="space-y-1 text-sm">
            {operations.map(({ anchor, method, path }) => (
              <li key={anchor}>
                <a href={`#${anchor}`} className="break-all font-mono text-xs text-soft hover:text-ink">
                  {method.toUpperCase()} {path}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

export default async function ApiPage() {
  const words = await requestWords();
  const { t } = words;
  const { publicUrl } = pageContext();
  const groups = operationGroups();
  return (
    <div className="gap-12 lg:grid lg:grid-cols-[16rem_minmax(0,1fr)]">
      <Contents words={words} groups={groups} />
      <div className="min-w-0 max-w-4xl">
        <h1 className="text-xl font-semibold tracking-tight">{t("api.title")}</h1>
        <p className="mt-1 text-soft">
          {t("api.lead")}{" "}
          <a href="/openapi.json" className="link">
            /openapi.json
          </a>
          .
        </p>
        {groups.map(({ tag, operations }) => (
          <section key={tag} aria-labelledby={`tag-${tag}`} className="mt-10">
            <h2 id={`tag-${tag}`} className="text-lg font-semibold capitalize" lang="en">
              {tag}
            </h2>
            {operations.map((operation) => (
              <OperationEntry
                key={operation.anchor}
                words={words}
                operation={operation}
                curl={curlOf(operation, publicUrl)}
              />
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}
