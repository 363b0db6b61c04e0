"use client";
/** Kernel arguments and the boot loader. */
import { bootloaderLack, bootloaderSparesIso } from "../../lib/domain/form/availability.ts";
import { BOOTLOADER_CHOICES } from "../../lib/domain/form/form-state.ts";
import { quirks } from "../../lib/domain/quirks.ts";
import { useWords } from "../words/words-provider.tsx";
import { Choices } from "./choices.tsx";
import { Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

export function ArgumentStep({ form, change }: StepProps) {
  const { t } = useWords();
  return (
    <Section id="arguments" title={t("arguments.title")} group={false}>
      <input type="hidden" name="cmdline-set" value="true" />
      <input
        name="cmdline"
        className="input font-mono text-sm"
        aria-labelledby="arguments-title"
        aria-describedby="arguments-hint"
        value={form.cmdline}
        placeholder="-console console=ttyS0,115200"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => change({ cmdline: event.target.value })}
      />
      <p id="arguments-hint" className="text-sm text-soft">
        {t("arguments.hint")}{" "}
        {!quirks(form.version).unifiedInstaller && !form.secureboot && t("arguments.installer")}
      </p>
    </Section>
  );
}

export function BootloaderStep({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const choices = BOOTLOADER_CHOICES.map((value) => ({
    value,
    label: t(`bootloader.${value}`),
    hint: t(`bootloader.${value}.hint`),
    lack: bootloaderLack(form, value),
  }));
  return (
    <Section id="bootloader" title={t("bootloader.title")}>
      <Choices
        name="bootloader"
        choices={choices}
        value={form.bootloader}
        onChange={(bootloader) => change({ bootloader })}
        columns="sm:grid-cols-2"
      />
      {form.bootloader !== "auto" && bootloaderSparesIso(form.version) && (
        <p className="text-sm text-soft">{t("bootloader.disks-only")}</p>
      )}
      <Problems id="bootloader-problem" problems={problems("bootloader")} version={form.version} />
    </Section>
  );
}
