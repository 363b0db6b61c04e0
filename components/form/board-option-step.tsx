"use client";
/** Options of a board's overlay: fields for those that are known, YAML for all of them. */
import { knownOptions, readOption, writeOption } from "../../lib/domain/form/board-options.ts";
import { overlayOf } from "../../lib/domain/form/form-schematic.ts";
import { useWords } from "../words/words-provider.tsx";
import { Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";
import { TextArea } from "./text-area.tsx";

export function BoardOptionStep({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const wrong = problems("overlay-options");
  const known = wrong.length > 0 ? [] : knownOptions(overlayOf(form)?.image ?? "");
  return (
    <Section id="board-options" title={t("overlay.title")}>
      {known.map((name) => (
        <div key={name} className="needs-script">
          <TextArea
            name={`option-${name}`}
            sent={false}
            label={t(`option.${name}`)}
            hint={t(`option.${name}.hint`)}
            rows={2}
            value={readOption(form.overlayOptions, name)}
            placeholder={name === "configTxt" ? "" : "dtparam=audio=on"}
            onChange={(text) => change({ overlayOptions: writeOption(form.overlayOptions, name, text) })}
          />
        </div>
      ))}
      <TextArea
        name="overlay-options"
        label={t("overlay.yaml")}
        hint={t("overlay.hint")}
        value={form.overlayOptions}
        rows={3}
        placeholder="configTxtAppend: dtparam=audio=on"
        invalid={wrong.length > 0}
        onChange={(overlayOptions) => change({ overlayOptions })}
      />
      <Problems id="overlay-options-problem" problems={wrong} version={form.version} />
    </Section>
  );
}
