"use client";
/** The form as one page: choices on the left, what they give on the right. Works as a plain form without scripts. */
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import type { ExtensionHistory } from "../../lib/domain/form/extension-history.ts";
import type { Opened } from "../../lib/domain/form/form-address.ts";
import { type FormField, type FormProblem, formProblems } from "../../lib/domain/form/form-problems.ts";
import type { FormState } from "../../lib/domain/form/form-state.ts";
import { formWarnings } from "../../lib/domain/form/form-warnings.ts";
import { type Preview, previewForm } from "../../lib/domain/form/preview.ts";
import type { StaticIp } from "../../lib/domain/form/static-ip.ts";
import type { CatalogExtension } from "../../lib/domain/release.ts";
import { shortId } from "../ui/id-mark.tsx";
import { useWords } from "../words/words-provider.tsx";
import { ArchStep } from "./arch-step.tsx";
import { ArgumentStep } from "./argument-step.tsx";
import { BoardOptionStep } from "./board-option-step.tsx";
import { BootStep } from "./boot-step.tsx";
import { Casting } from "./casting.tsx";
import { CastingBar } from "./casting-bar.tsx";
import { ConfigStep } from "./config-step.tsx";
import { ExtensionStep } from "./extension-step.tsx";
import { MachineStep } from "./machine-step.tsx";
import { MetaStep } from "./meta-step.tsx";
import type { OfferedVersion } from "./step-props.ts";
import { useAddress } from "./use-address.ts";
import { useAnnouncement } from "./use-announcement.ts";
import { useCatalog } from "./use-catalog.ts";
import { VersionStep } from "./version-step.tsx";

interface Props {
  initial: FormState;
  /** The stored schematic the form was opened from. */
  opened: Opened | null;
  versions: OfferedVersion[];
  /** Of the initial version; null when it is not offered or the source is away. */
  extensions: CatalogExtension[] | null;
  /** Of all offered versions. */
  histories: ExtensionHistory[];
  search: { words: string; purpose: string };
  /** Usual size in bytes of a file, by "<version>/<file>", of those built here before. */
  usualSizes: Record<string, number>;
  /** Fields of the static address that were sent and could not be used. */
  ip: StaticIp | null;
}

/** Leads to what has to be mended first: opens what hides it, and moves the focus there. */
function showProblem({ field }: FormProblem): void {
  const place = document.getElementById(`${field}-problem`);
  place?.closest("details")?.setAttribute("open", "");
  place?.scrollIntoView({ block: "center" });
  place?.focus({ preventScroll: true });
}

/** The choice and what it gives; each part is computed anew when what it rests on has changed. */
function useChoice({ initial, opened, versions, extensions, histories }: Props) {
  const [form, setForm] = useState(initial);
  const start = useRef({ version: initial.version, extensions }).current;
  const offered = versions.find((item) => item.version === form.version);
  const catalog = useCatalog(form.version, offered !== undefined, start);
  const preview = useMemo(() => previewForm(form, opened?.schematic ?? null), [form, opened]);
  const ready = catalog.state === "ready" ? catalog.extensions : null;
  const offer = useMemo(
    () => ({
      versions: versions.map((item) => item.version),
      firstWith: new Map(histories.map(({ name, first }) => [name, first])),
    }),
    [versions, histories],
  );
  const problems = useMemo(() => formProblems(form, { ...offer, extensions: ready }), [form, offer, ready]);
  const warnings = useMemo(() => formWarnings(form, ready), [form, ready]);
  const change = (part: Partial<FormState>) => setForm((before) => ({ ...before, ...part }));
  return { form, change, catalog, preview, problems, warnings, sample: offered?.sample ?? false };
}

type Choice = ReturnType<typeof useChoice>;

/** The decisions, one below the other. */
function Steps({ choice, versions, histories, search, ip }: { choice: Choice } & Props) {
  const { form, change, problems, catalog, preview } = choice;
  const of = (field: FormField) => problems.filter((problem) => problem.field === field);
  const step = { form, change, problems: of };
  return (
    <div className="min-w-0">
      <MachineStep {...step} />
      <VersionStep {...step} versions={versions} />
      <ArchStep {...step} />
      <ExtensionStep {...step} catalog={catalog} histories={histories} initialSearch={search} />
      <ArgumentStep {...step} plainCmdline={preview.plainCmdline} ip={ip} />
      {form.target === "sbc" && <BoardOptionStep {...step} />}
      <BootStep {...step} />
      <MetaStep {...step} />
      <ConfigStep {...step} />
    </div>
  );
}

/** Tells those who listen what the choice gives. */
function Said({ preview }: { preview: Preview }) {
  const { t } = useWords();
  const said = useAnnouncement(
    preview.id === null
      ? t("casting.said.none")
      : t("casting.said", { file: preview.file, id: shortId(preview.id) }),
  );
  return (
    <p className="sr-only" aria-live="polite">
      {said}
    </p>
  );
}

export function CastingForm(props: Props) {
  const { opened, usualSizes } = props;
  const choice = useChoice(props);
  const { form, preview, problems, warnings, sample } = choice;
  useAddress(form, opened);
  // Without scripts nothing keeps an ID in step with the fields, so none travels along.
  const [inStep, setInStep] = useState(false);
  useEffect(() => setInStep(true), []);
  /** What exists already may be opened for any version, whatever that version lacks. */
  const unchanged = opened !== null && preview.id === opened.id;
  const submit = (event: FormEvent) => {
    const wrong = problems[0];
    if (!wrong || unchanged) return;
    event.preventDefault();
    showProblem(wrong);
  };
  return (
    <form
      method="post"
      action="/create"
      autoComplete="off"
      className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_23rem] xl:grid-cols-[minmax(0,1fr)_27rem]"
      onSubmit={submit}
    >
      <input type="hidden" name="expected" value={(inStep && preview.id) || ""} />
      {opened !== null && <input type="hidden" name="from" value={opened.id} />}
      <Steps choice={choice} {...props} />
      <CastingBar summary={preview.file} problemCount={problems.length}>
        <Casting
          {...{ form, preview, opened, warnings, sample }}
          problemCount={unchanged ? 0 : problems.length}
          usualBytes={usualSizes[`v${form.version}/${preview.file}`] ?? null}
        />
      </CastingBar>
      <Said preview={preview} />
    </form>
  );
}
