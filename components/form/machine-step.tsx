"use client";
/** Machine kind, then the platform or the board. */
import { platformLack } from "../../lib/domain/form/availability.ts";
import { TARGETS } from "../../lib/domain/form/form-state.ts";
import { findPlatform, PLATFORMS } from "../../lib/domain/platforms.ts";
import { useWords } from "../words/words-provider.tsx";
import { BoardSelect } from "./board-select.tsx";
import { type Choice, Choices } from "./choices.tsx";
import { GuideLink } from "./guide-link.tsx";
import { ApplyButton, Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

const CLOUDS = PLATFORMS.filter((platform) => platform.name !== "metal" && platform.name !== "container");

export function MachineStep({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const targets = TARGETS.map((value) => ({
    value,
    label: t(`target.${value}`),
    hint: t(`target.${value}.hint`),
  }));
  return (
    <Section id="machine" title={t("machine.title")}>
      <Choices
        name="target"
        choices={targets}
        value={form.target}
        onChange={(target) => change({ target })}
        columns="sm:grid-cols-3"
      />
      <ApplyButton />
      {form.target === "cloud" && <PlatformChoice {...{ form, change, problems }} />}
      {form.target === "sbc" && <BoardSelect {...{ form, change, problems }} />}
    </Section>
  );
}

function PlatformChoice({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const choices: Choice<string>[] = CLOUDS.map((platform) => ({
    value: platform.name,
    label: platform.label,
    lack: platformLack(platform, form.version),
    ...(platform.name === "nocloud" ? { hint: t("platform.nocloud") } : {}),
  }));
  return (
    <fieldset className="flex flex-col gap-2 pt-2">
      <legend className="eyebrow">{t("platform.title")}</legend>
      <Problems id="platform-problem" problems={problems("platform")} version={form.version} />
      <Choices
        name="platform"
        choices={choices}
        value={form.platform}
        onChange={(platform) => change({ platform })}
        columns="grid-cols-2 xl:grid-cols-3"
        describedBy="platform-problem"
      />
      <GuideLink subject={findPlatform(form.platform)} version={form.version} />
      <ApplyButton />
    </fieldset>
  );
}
