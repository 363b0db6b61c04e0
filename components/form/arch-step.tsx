"use client";
/** Architecture and SecureBoot. */
import { ARCHES } from "../../lib/domain/asset.ts";
import { archLack, secureBootLack } from "../../lib/domain/form/availability.ts";
import { archOf } from "../../lib/domain/form/form-state.ts";
import { useWords } from "../words/words-provider.tsx";
import { Choices } from "./choices.tsx";
import { lackText } from "./lack-text.ts";
import { Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

export function ArchStep({ form, change, problems }: StepProps) {
  const words = useWords();
  const { t } = words;
  const choices = ARCHES.map((arch) => ({
    value: arch,
    label: arch,
    hint: t(`arch.${arch}`),
    lack: archLack(form, arch),
  }));
  const lack = secureBootLack(form);
  const wrong = problems("secureboot");
  return (
    <Section id="arch" title={t("arch.title")}>
      <Choices
        name="arch"
        choices={choices}
        value={archOf(form)}
        onChange={(arch) => change({ arch })}
        columns="sm:grid-cols-2"
      />
      {form.target !== "sbc" && (
        <label className="flex items-start gap-2.5 text-sm">
          <input
            type="checkbox"
            name="secureboot"
            value="true"
            className="mt-0.5"
            checked={form.secureboot}
            disabled={lack !== null && !form.secureboot}
            aria-describedby="secureboot-problem"
            onChange={(event) => change({ secureboot: event.target.checked })}
          />
          <span>
            <span className="font-medium">SecureBoot</span>
            <span className="ml-2 text-soft">
              {lack === null ? t("secureboot.hint") : lackText(words, lack)}
            </span>
          </span>
        </label>
      )}
      <Problems id="secureboot-problem" problems={wrong} version={form.version} />
    </Section>
  );
}
