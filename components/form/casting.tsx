"use client";
/** What will come out of the form: file, ID, contents, command line, schematic. */
import { Fragment } from "react";
import { findBoard } from "../../lib/domain/boards.ts";
import { splitArguments } from "../../lib/domain/form/form-schematic.ts";
import { archOf, type FormState } from "../../lib/domain/form/form-state.ts";
import type { Preview } from "../../lib/domain/form/preview.ts";
import { findPlatform } from "../../lib/domain/platforms.ts";
import { Badge } from "../ui/badge.tsx";
import { CodeLine } from "../ui/code-line.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";
import { useWords } from "../words/words-provider.tsx";

/** The machine in words: platform or board. */
export function machineName(words: Words, form: FormState): string {
  if (form.target === "cloud") return findPlatform(form.platform)?.label ?? form.platform;
  if (form.target === "sbc") return findBoard(form.board)?.label ?? form.board;
  return words.t("target.metal");
}

interface Props {
  form: FormState;
  preview: Preview;
  sample: boolean;
  /** How many things must be mended first. */
  problemCount: number;
}

/** The one line that says what is being made; each part leads to its place in the form. */
function Sentence({ form, sample }: Pick<Props, "form" | "sample">) {
  const words = useWords();
  const { t } = words;
  const parts = [
    { href: "#version", text: `Talos v${form.version}` },
    { href: "#machine", text: machineName(words, form) },
    { href: "#arch", text: archOf(form) + (form.secureboot && form.target !== "sbc" ? " · SecureBoot" : "") },
  ];
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1 text-sm">
      {parts.map(({ href, text }, index) => (
        <Fragment key={href}>
          {index > 0 && <span aria-hidden="true">·</span>}
          <a
            href={href}
            className="underline decoration-line decoration-2 underline-offset-4 hover:decoration-accent"
          >
            {text}
          </a>
        </Fragment>
      ))}
      {sample && <Badge tone="warn">{t("sample.long")}</Badge>}
    </p>
  );
}

function CommandLine({ cmdline, added }: { cmdline: string; added: string[] }) {
  const { t } = useWords();
  const own = new Set(added);
  const words = cmdline.split(" ");
  return (
    <div>
      <div className="mb-1 flex items-end justify-between gap-3">
        <h3 className="eyebrow">{t("casting.cmdline")}</h3>
        <CopyButton text={cmdline} what={t("casting.cmdline")} />
      </div>
      <p className="code break-all">
        {words.map((word, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: words may repeat and never move
          <Fragment key={index}>
            {own.has(word) ? <mark className="bg-transparent font-bold text-accent">{word}</mark> : word}{" "}
          </Fragment>
        ))}
      </p>
    </div>
  );
}

function Inside({ form }: { form: FormState }) {
  const { t } = useWords();
  return (
    <div>
      <h3 className="eyebrow mb-1">{t("extensions.title")}</h3>
      {form.extensions.length === 0 ? (
        <p className="text-sm text-soft">{t("casting.no-extensions")}</p>
      ) : (
        <ul className="space-y-0.5 text-sm">
          {form.extensions.map((name) => (
            <li key={name} className="break-all">
              {name.slice(name.lastIndexOf("/") + 1)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function Casting({ form, preview, sample, problemCount }: Props) {
  const { t, plural } = useWords();
  return (
    <div className="space-y-5">
      <div className="space-y-3">
        <h2 className="sr-only">{t("casting.title")}</h2>
        <Sentence form={form} sample={sample} />
        <p className="break-all font-mono text-lg font-semibold" data-testid="file">
          {preview.file}
        </p>
        {preview.id && (
          <div className="flex items-center justify-between gap-3">
            <IdMark id={preview.id} />
            <CopyButton text={preview.id} what={t("id")} />
          </div>
        )}
      </div>
      <div className="space-y-2">
        <button
          type="submit"
          name="intent"
          value="create"
          className="button button-primary min-h-11 w-full text-base"
        >
          {t("form.create")}
        </button>
        <p className="text-xs text-soft">
          {problemCount === 0 ? t("form.create.hint") : plural("form.problems", problemCount)}
        </p>
      </div>
      <div className="space-y-5 border-t border-line pt-5">
        <Inside form={form} />
        {preview.cmdline !== null && (
          <CommandLine cmdline={preview.cmdline} added={splitArguments(form.cmdline)} />
        )}
        {preview.yaml !== null && <CodeLine caption={t("schematic")} text={preview.yaml.trimEnd()} block />}
      </div>
    </div>
  );
}
