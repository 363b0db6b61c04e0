"use client";
/** What few people need, folded: overlay options of boards, embedded machine configuration. */
import { embeddedConfigLack } from "../../lib/domain/form/availability.ts";
import { useWords } from "../words/words-provider.tsx";
import { lackText } from "./lack-text.ts";
import { Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

interface AreaProps {
  name: string;
  label: string;
  hint: string;
  value: string;
  placeholder: string;
  disabled?: boolean;
  invalid: boolean;
  onChange: (text: string) => void;
}

function Area({ name, label, hint, value, placeholder, disabled = false, invalid, onChange }: AreaProps) {
  return (
    <div>
      <label htmlFor={name} className="text-sm font-medium">
        {label}
      </label>
      <p id={`${name}-hint`} className="mb-2 text-sm text-soft">
        {hint}
      </p>
      <textarea
        id={name}
        name={name}
        rows={5}
        className="input font-mono text-sm"
        aria-describedby={`${name}-hint ${name}-problem`}
        aria-invalid={invalid}
        value={value}
        placeholder={placeholder}
        disabled={disabled}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

const CONFIG_EXAMPLE = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: node-1";

export function MoreStep({ form, change, problems, lostSecret }: StepProps & { lostSecret: boolean }) {
  const words = useWords();
  const { t } = words;
  const lack = embeddedConfigLack(form.version);
  const options = problems("overlay-options");
  const config = problems("embedded-config");
  const open = options.length > 0 || config.length > 0 || lostSecret || form.overlayOptions !== "";
  return (
    <details className="border-t border-line py-6" open={open || undefined} id="more">
      <summary className="font-semibold">{t("more.title")}</summary>
      <div className="mt-4 space-y-6 md:ml-[12rem]">
        {form.target === "sbc" && (
          <div className="space-y-2">
            <Area
              name="overlay-options"
              label={t("overlay.title")}
              hint={t("overlay.hint")}
              value={form.overlayOptions}
              placeholder="configTxtAppend: dtparam=audio=on"
              invalid={options.length > 0}
              onChange={(overlayOptions) => change({ overlayOptions })}
            />
            <Problems id="overlay-options-problem" problems={options} version={form.version} />
          </div>
        )}
        <div className="space-y-2">
          <Area
            name="embedded-config"
            label={t("embedded.title")}
            hint={lack === null ? t("embedded.hint") : lackText(words, lack)}
            value={form.embeddedConfig}
            placeholder={CONFIG_EXAMPLE}
            disabled={lack !== null && form.embeddedConfig === ""}
            invalid={config.length > 0 || lostSecret}
            onChange={(embeddedConfig) => change({ embeddedConfig })}
          />
          {lostSecret && <p className="text-sm text-bad">{t("embedded.lost")}</p>}
          <Problems id="embedded-config-problem" problems={config} version={form.version} />
        </div>
      </div>
    </details>
  );
}
