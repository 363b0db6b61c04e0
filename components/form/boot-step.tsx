"use client";
/** The boot loader and the sectors of the disk. */
import { bootloaderLack, bootloaderSparesIso } from "../../lib/domain/form/availability.ts";
import { BOOTLOADER_CHOICES, SECTOR_CHOICES } from "../../lib/domain/form/form-state.ts";
import { useWords } from "../words/words-provider.tsx";
import { Choices } from "./choices.tsx";
import { FoldedSection, Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

export function BootStep({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const choices = BOOTLOADER_CHOICES.map((value) => ({
    value,
    label: t(`bootloader.${value}`),
    hint: t(`bootloader.${value}.hint`),
    lack: bootloaderLack(form, value),
  }));
  const [wrong, sectors] = [problems("bootloader"), problems("sector-size")];
  const state = [
    t(`bootloader.${form.bootloader}`),
    ...(form.sectorSize === "" ? [] : [t("sector.bytes", { size: form.sectorSize })]),
  ];
  const chosen = form.bootloader !== "auto" || form.sectorSize !== "" || wrong.length + sectors.length > 0;
  return (
    <FoldedSection id="bootloader" title={t("bootloader.title")} state={state.join(" · ")} open={chosen}>
      <fieldset className="flex flex-col gap-3">
        <legend className="sr-only">{t("bootloader.title")}</legend>
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
        <Problems id="bootloader-problem" problems={wrong} version={form.version} />
      </fieldset>
      <SectorSize {...{ form, change, problems }} />
    </FoldedSection>
  );
}

function SectorSize({ form, change, problems }: StepProps) {
  const { t } = useWords();
  const known = SECTOR_CHOICES.some((choice) => choice === form.sectorSize);
  return (
    <div>
      <label htmlFor="sector-size" className="text-sm font-medium">
        {t("sector.title")}
      </label>
      <p id="sector-size-hint" className="mb-2 text-sm text-soft">
        {t("sector.hint")}
      </p>
      <select
        id="sector-size"
        name="sector-size"
        className="input max-w-md"
        value={form.sectorSize}
        aria-invalid={!known}
        aria-describedby="sector-size-hint sector-size-problem"
        onChange={(event) => change({ sectorSize: event.target.value })}
      >
        {!known && <option value={form.sectorSize}>{form.sectorSize}</option>}
        {SECTOR_CHOICES.map((choice) => (
          <option key={choice} value={choice}>
            {choice === "" ? t("sector.default") : t("sector.bytes", { size: choice })}
          </option>
        ))}
      </select>
      <Problems id="sector-size-problem" problems={problems("sector-size")} version={form.version} />
    </div>
  );
}
