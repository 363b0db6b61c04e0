"use client";
/** The form as one page: choices on the left, what they give on the right. Works as a plain form without scripts. */
import { useEffect, useMemo, useRef, useState } from "react";
import { type FormField, formProblems } from "../../lib/domain/form/form-problems.ts";
import { type FormState, settleForm, writeForm } from "../../lib/domain/form/form-state.ts";
import { previewForm } from "../../lib/domain/form/preview.ts";
import type { CatalogExtension } from "../../lib/domain/release.ts";
import { shortId } from "../ui/id-mark.tsx";
import { useWords } from "../words/words-provider.tsx";
import { ArchStep } from "./arch-step.tsx";
import { ArgumentStep, BootloaderStep } from "./argument-step.tsx";
import { Casting } from "./casting.tsx";
import { CastingBar } from "./casting-bar.tsx";
import { ExtensionStep } from "./extension-step.tsx";
import { MachineStep } from "./machine-step.tsx";
import { MoreStep } from "./more-step.tsx";
import type { OfferedVersion } from "./step-props.ts";
import { useCatalog } from "./use-catalog.ts";
import { VersionStep } from "./version-step.tsx";

interface Props {
  initial: FormState;
  versions: OfferedVersion[];
  /** Of the initial version; null when it is not offered or the source is away. */
  extensions: CatalogExtension[] | null;
  search: string;
  /** True: an embedded configuration was refused and could not be kept. */
  lostSecret: boolean;
}

/** Keeps the address in step with the form, so that it can be shared and reloaded. */
function useAddress(form: FormState): void {
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(
      () => window.history.replaceState(null, "", `/?${writeForm(settleForm(form))}`),
      150,
    );
    return () => clearTimeout(timer);
  }, [form]);
}

const ANNOUNCE_MS = 900;

/** What has become of the choice, said once things are quiet. */
function useAnnouncement(text: string): string {
  const [said, setSaid] = useState("");
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(() => setSaid(text), ANNOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return said;
}

export function CastingForm({ initial, versions, extensions, search, lostSecret }: Props) {
  const { t } = useWords();
  const [form, setForm] = useState(initial);
  const start = useRef({ version: initial.version, extensions }).current;
  const offered = versions.find((item) => item.version === form.version);
  const catalog = useCatalog(form.version, offered !== undefined, start);
  const preview = useMemo(() => previewForm(form), [form]);
  const ready = catalog.state === "ready" ? catalog.extensions : null;
  const problems = useMemo(
    () => formProblems(form, { versions: versions.map((item) => item.version), extensions: ready }),
    [form, versions, ready],
  );
  useAddress(form);
  const said = useAnnouncement(
    preview.id === null
      ? t("casting.said.none")
      : t("casting.said", { file: preview.file, id: shortId(preview.id) }),
  );
  const step = {
    form,
    change: (part: Partial<FormState>) => setForm((before) => ({ ...before, ...part })),
    problems: (field: FormField) => problems.filter((problem) => problem.field === field),
  };
  return (
    <form
      method="post"
      action="/create"
      autoComplete="off"
      className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_23rem] xl:grid-cols-[minmax(0,1fr)_27rem]"
      onSubmit={(event) => {
        const wrong = problems[0];
        if (!wrong) return;
        event.preventDefault();
        const place = document.getElementById(`${wrong.field}-problem`);
        place?.closest("details")?.setAttribute("open", "");
        place?.scrollIntoView({ block: "center" });
      }}
    >
      <input type="hidden" name="expected" value={preview.id ?? ""} />
      <div className="min-w-0">
        <MachineStep {...step} />
        <VersionStep {...step} versions={versions} />
        <ArchStep {...step} />
        <ExtensionStep {...step} catalog={catalog} initialSearch={search} />
        <ArgumentStep {...step} />
        <BootloaderStep {...step} />
        <MoreStep {...step} lostSecret={lostSecret} />
      </div>
      <CastingBar summary={preview.file} problemCount={problems.length}>
        <Casting
          form={form}
          preview={preview}
          sample={offered?.sample ?? false}
          problemCount={problems.length}
        />
      </CastingBar>
      <p className="sr-only" aria-live="polite">
        {said}
      </p>
    </form>
  );
}
