"use client";
/** What will come out of the form: file, ID, what is unusual, what changes, command line, schematic. */
import { Fragment } from "react";
import { findBoard } from "../../lib/domain/boards.ts";
import { splitArguments } from "../../lib/domain/form/argument-text.ts";
import type { Opened } from "../../lib/domain/form/form-address.ts";
import { archOf, type FormState, OTHER_BOARD } from "../../lib/domain/form/form-state.ts";
import type { FormWarning } from "../../lib/domain/form/form-warnings.ts";
import type { Preview } from "../../lib/domain/form/preview.ts";
import { findPlatform } from "../../lib/domain/platforms.ts";
import { Badge } from "../ui/badge.tsx";
import { CodeLine } from "../ui/code-line.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";
import { useWords } from "../words/words-provider.tsx";
import { CastingChanges } from "./casting-changes.tsx";
import { warningText } from "./warning-text.ts";

/** The machine in words: platform or board. */
export function machineName(words: Words, form: FormState): string {
  if (form.target === "cloud") return findPlatform(form.platform)?.label ?? form.platform;
  if (form.target === "metal") return words.t("target.metal");
  if (form.board === OTHER_BOARD) return form.overlayName || words.t("board.other");
  return findBoard(form.board)?.label ?? form.board;
}

interface Props {
  form: FormState;
  preview: Preview;
  opened: Opened | null;
  warnings: FormWarning[];
  sample: boolean;
  /** How many things must be mended first. */
  problemCount: number;
  /** Bytes that files like this one usually have; null when none was built yet. */
  usualBytes: number | null;
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

function Warnings({ warnings }: { warnings: FormWarning[] }) {
  const words = useWords();
  if (warnings.length === 0) return null;
  return (
    <section
      aria-label={words.t("casting.warnings")}
      className="border-l-2 border-warn bg-warn-wash px-3 py-2"
    >
      <ul className="space-y-1.5 text-sm">
        {warnings.map((warning) => {
          const text = warningText(words, warning);
          return <li key={text}>{text}</li>;
        })}
      </ul>
    </section>
  );
}

export function Casting(props: Props) {
  const { form, preview, opened, warnings, sample, problemCount, usualBytes } = props;
  const { t, plural, size } = useWords();
  return (
    <div className="space-y-5">
      <div className="space-y-3">
        <h2 className="sr-only">{t("casting.title")}</h2>
        <Sentence form={form} sample={sample} />
        <p className="break-all font-mono text-lg font-semibold" data-testid="file">
          {preview.file}
        </p>
        {usualBytes !== null && (
          <p className="text-sm text-soft">{t("casting.size", { size: size(usualBytes) })}</p>
        )}
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
      <Warnings warnings={warnings} />
      <div className="space-y-5 border-t border-line pt-5">
        <CastingChanges schematic={preview.schematic} opened={opened} />
        {preview.cmdline !== null && (
          <CommandLine cmdline={preview.cmdline} added={splitArguments(form.cmdline)} />
        )}
        {preview.yaml !== null && <CodeLine caption={t("schematic")} text={preview.yaml.trimEnd()} block />}
      </div>
    </div>
  );
}
