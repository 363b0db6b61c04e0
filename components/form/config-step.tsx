"use client";
/** The machine configuration that goes into the image. */
import { useMemo } from "react";
import { embeddedConfigLack } from "../../lib/domain/form/availability.ts";
import { secretWarnings } from "../../lib/domain/form/form-warnings.ts";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words-provider.tsx";
import { lackText } from "./lack-text.ts";
import { FoldedSection, Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";
import { TextArea } from "./text-area.tsx";
import { warningText } from "./warning-text.ts";

const EXAMPLE = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: node-1";

export function ConfigStep({ form, change, problems }: StepProps) {
  const words = useWords();
  const { t, plural } = words;
  const lack = embeddedConfigLack(form.version);
  const wrong = problems("embedded-config");
  const text = form.embeddedConfig;
  const secrets = useMemo(() => secretWarnings(text), [text]);
  const state =
    text.trim() !== ""
      ? plural("embedded.lines", text.trimEnd().split("\n").length)
      : lack === null
        ? t("embedded.none")
        : lackText(words, lack);
  return (
    <FoldedSection id="config" title={t("embedded.title")} state={state} open={text.trim() !== ""}>
      <TextArea
        name="embedded-config"
        label={t("embedded.label")}
        hint={t("embedded.hint")}
        value={text}
        rows={8}
        placeholder={EXAMPLE}
        locked={lack !== null && text === ""}
        invalid={wrong.length > 0}
        onChange={(embeddedConfig) => change({ embeddedConfig })}
      />
      {secrets.map((warning) => (
        <Notice key={warning.kind}>{warningText(words, warning)}</Notice>
      ))}
      <Problems id="embedded-config-problem" problems={wrong} version={form.version} />
    </FoldedSection>
  );
}
