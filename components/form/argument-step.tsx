"use client";
/** Kernel arguments: typed as one text, explained one by one, with help for a fixed address. */
import { useMemo } from "react";
import { argumentEffects } from "../../lib/domain/form/argument-effects.ts";
import { splitArguments } from "../../lib/domain/form/argument-text.ts";
import type { StaticIp } from "../../lib/domain/form/static-ip.ts";
import { talosGuide } from "../../lib/domain/talos-guides.ts";
import { useWords } from "../words/words-provider.tsx";
import { Section } from "./section.tsx";
import { StaticIpFields } from "./static-ip-fields.tsx";
import type { StepProps } from "./step-props.ts";

interface Props extends StepProps {
  /** The command line without what is typed here; null while the machine is unknown. */
  plainCmdline: string | null;
  ip: StaticIp | null;
}

export function ArgumentStep({ form, change, plainCmdline, ip }: Props) {
  const { t } = useWords();
  return (
    <Section id="arguments" title={t("arguments.title")} group={false}>
      <input type="hidden" name="cmdline-set" value="true" />
      <textarea
        name="cmdline"
        rows={form.cmdline.length > 60 ? 3 : 1}
        className="input block resize-y font-mono text-sm"
        aria-labelledby="arguments-title"
        aria-describedby="arguments-hint"
        value={form.cmdline}
        placeholder="-console console=ttyS0,115200"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => change({ cmdline: event.target.value })}
      />
      {plainCmdline !== null && <Effects cmdline={form.cmdline} plainCmdline={plainCmdline} />}
      <details>
        <summary className="text-sm text-soft">{t("arguments.help")}</summary>
        <div id="arguments-hint" className="mt-2 space-y-1 text-sm text-soft">
          <p>{t("arguments.hint")}</p>
          <p>{t("arguments.quotes", { example: "'dyndbg=module zfs +p'" })}</p>
          <p>
            <a className="link" href={talosGuide(form.version, "/reference/kernel/")}>
              {t("arguments.reference")}
            </a>
          </p>
        </div>
      </details>
      <StaticIpFields initial={ip} cmdline={form.cmdline} onAdd={(cmdline) => change({ cmdline })} />
    </Section>
  );
}

/** Each argument with what it does to the defaults. */
function Effects({ cmdline, plainCmdline }: { cmdline: string; plainCmdline: string }) {
  const { t } = useWords();
  const notes = useMemo(
    () => argumentEffects(plainCmdline, splitArguments(cmdline)),
    [cmdline, plainCmdline],
  );
  if (notes.length === 0) return null;
  return (
    <ul className="space-y-1 text-sm">
      {notes.map(({ argument, effect, defaults }, index) => {
        const odd = effect === "repeated" || effect === "removes-nothing" || effect === "already-there";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: arguments may repeat and never move
          <li key={index} className="flex flex-wrap gap-x-3">
            <code className="break-all font-mono text-xs leading-5">{argument === "" ? "''" : argument}</code>
            <span className={`text-xs leading-5 ${odd ? "text-warn" : "text-soft"}`}>
              {t(`effect.${effect}`, { defaults: defaults.join(" ") })}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
