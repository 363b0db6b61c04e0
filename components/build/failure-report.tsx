"use client";
/** Why a build failed and what to do next; the whole report can be copied as Markdown. */
import type { BuildError } from "../../lib/services/contracts.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { useWords } from "../words/words-provider.tsx";
import { BuildAgain } from "./build-again.tsx";
import type { BuildSnapshot } from "./snapshot.ts";

/** The report for an issue tracker or a chat. English, as the messages in it are. */
export function failureMarkdown(build: BuildSnapshot, error: BuildError): string {
  const facts = Object.entries(error.detail ?? {}).filter(([name]) => name !== "tail");
  const tail = error.detail?.tail;
  return [
    `### Build of ${build.path} failed`,
    "",
    `${error.message} (\`${error.code}\`)`,
    "",
    ...(error.hint ? [`Next step: ${error.hint}`, ""] : []),
    `- build: ${build.id}`,
    `- Talos version: ${build.version}`,
    `- schematic: ${build.schematicId}`,
    ...facts.map(
      ([name, value]) => `- ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    ),
    ...(tail === undefined ? [] : ["", "```", String(tail), "```"]),
  ].join("\n");
}

export function FailureReport({ build, error }: { build: BuildSnapshot; error: BuildError }) {
  const { t } = useWords();
  const { tail, ...facts } = error.detail ?? {};
  return (
    <section aria-labelledby="failure" className="space-y-3 border-l-2 border-bad bg-bad-wash p-4">
      <h2 id="failure" className="text-lg font-semibold">
        {t("failure.title")}
      </h2>
      <p className="break-words" lang="en">
        {error.message} <code className="text-sm text-soft">{error.code}</code>
      </p>
      <p className="break-words">
        <strong>{t("failure.hint")}</strong>{" "}
        {error.hint ? <span lang="en">{error.hint}</span> : t("failure.hint.none")}
      </p>
      {Object.keys(facts).length > 0 && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 text-sm" lang="en">
          {Object.entries(facts).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="break-words">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {tail !== undefined && (
        <pre className="code whitespace-pre-wrap break-words" lang="en">
          {String(tail)}
        </pre>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <BuildAgain build={build} />
        <CopyButton text={failureMarkdown(build, error)} what={build.path} label={t("failure.copy")} />
      </div>
    </section>
  );
}
