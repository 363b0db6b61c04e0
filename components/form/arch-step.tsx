"use client";
/** Architecture, SecureBoot, and what SecureBoot puts into the firmware. */
import { ARCHES } from "../../lib/domain/asset.ts";
import { archLack, secureBootLack } from "../../lib/domain/form/availability.ts";
import { archOf, ENROLL_CHOICES } from "../../lib/domain/form/form-state.ts";
import { useWords } from "../words/words-provider.tsx";
import { CheckBox } from "./check-box.tsx";
import { Choices } from "./choices.tsx";
import { lackText } from "./lack-text.ts";
import { ApplyButton, Problems, Section } from "./section.tsx";
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
  const signs = form.secureboot && form.target !== "sbc";
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
        <CheckBox
          name="secureboot"
          label="SecureBoot"
          hint={lack === null ? t("secureboot.hint") : lackText(words, lack)}
          checked={form.secureboot}
          disabled={lack !== null && !form.secureboot}
          describedBy="secureboot-problem"
          onChange={(secureboot) => change({ secureboot })}
        />
      )}
      <Problems id="secureboot-problem" problems={problems("secureboot")} version={form.version} />
      {signs || form.enrollKeys !== "" || form.wellKnownCertificates ? (
        <Enrolment {...{ form, change, problems }} />
      ) : (
        <>
          <input type="hidden" name="enroll-keys" value="" />
          <input type="hidden" name="well-known" value="false" />
          {form.target !== "sbc" && lack === null && <ApplyButton />}
        </>
      )}
    </Section>
  );
}

/** How the keys get into the firmware, and whether those of other vendors go in too. */
function Enrolment({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const known = ENROLL_CHOICES.some((choice) => choice === form.enrollKeys);
  return (
    <div className="space-y-3 border-l-2 border-line pl-4">
      <label className="block text-sm">
        <span className="mb-1 block font-medium">{t("enroll.title")}</span>
        <select
          name="enroll-keys"
          className="input max-w-md"
          value={form.enrollKeys}
          aria-invalid={!known}
          aria-describedby="enroll-keys-problem"
          onChange={(event) => change({ enrollKeys: event.target.value })}
        >
          {!known && <option value={form.enrollKeys}>{form.enrollKeys}</option>}
          {ENROLL_CHOICES.map((choice) => (
            <option key={choice} value={choice}>
              {t(`enroll.${choice || "default"}`)}
            </option>
          ))}
        </select>
      </label>
      <Problems id="enroll-keys-problem" problems={problems("enroll-keys")} version={form.version} />
      <input type="hidden" name="well-known" value="false" />
      <CheckBox
        name="well-known"
        label={t("certificates.title")}
        hint={t("certificates.hint")}
        checked={form.wellKnownCertificates}
        onChange={(wellKnownCertificates) => change({ wellKnownCertificates })}
      />
    </div>
  );
}
