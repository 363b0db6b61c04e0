"use client";
/** Helps to write `ip=`: fields for a fixed address, checked, then put into the kernel arguments. */
import { useState } from "react";
import {
  checkStaticIp,
  EMPTY_IP,
  IP_FIELDS,
  type IpField,
  type StaticIp,
  withStaticIp,
} from "../../lib/domain/form/static-ip.ts";
import { useWords } from "../words/words-provider.tsx";

const EXAMPLES: StaticIp = {
  address: "192.168.1.10",
  mask: "24",
  gateway: "192.168.1.1",
  hostname: "node-1",
  device: "eth0",
  dns1: "192.168.1.1",
  dns2: "9.9.9.9",
  ntp: "192.168.1.1",
};

interface Props {
  /** What was sent without scripts and could not be used. */
  initial: StaticIp | null;
  cmdline: string;
  onAdd: (cmdline: string) => void;
}

export function StaticIpFields({ initial, cmdline, onAdd }: Props) {
  const { t } = useWords();
  const [ip, setIp] = useState(initial ?? EMPTY_IP);
  // Nothing is called wrong before somebody has asked for it.
  const [asked, setAsked] = useState(initial !== null);
  const [done, setDone] = useState("");
  const { faults, argument } = checkStaticIp(ip);
  const faultOf = (name: IpField) => (asked ? faults[name] : undefined);
  const add = () => {
    setAsked(true);
    if (argument === null) {
      const wrong = IP_FIELDS.find((name) => faults[name]);
      return document.getElementById(`ip-${wrong}`)?.focus();
    }
    onAdd(withStaticIp(cmdline, argument));
    setDone(argument);
    setIp(EMPTY_IP);
    setAsked(false);
  };
  return (
    <details open={initial !== null}>
      <summary className="text-sm text-soft">{t("ip.title")}</summary>
      <fieldset className="mt-3 space-y-3">
        <legend className="sr-only">{t("ip.title")}</legend>
        <div className="grid gap-3 sm:grid-cols-2">
          {IP_FIELDS.map((name) => {
            const fault = faultOf(name);
            return (
              <label key={name} className="text-sm">
                <span className="mb-1 block font-medium">{t(`ip.${name}`)}</span>
                <input
                  id={`ip-${name}`}
                  name={`ip-${name}`}
                  className="input font-mono text-sm"
                  value={ip[name]}
                  placeholder={EXAMPLES[name]}
                  aria-invalid={fault !== undefined}
                  aria-describedby={`ip-${name}-fault`}
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  onChange={(event) => setIp({ ...ip, [name]: event.target.value })}
                />
                <span id={`ip-${name}-fault`} className="block text-xs text-bad">
                  {fault && t(`ip.fault.${fault}`)}
                </span>
              </label>
            );
          })}
        </div>
        <div className="flex flex-wrap items-center gap-3">
          <button
            type="submit"
            name="intent"
            value="add-ip"
            className="button"
            onClick={(event) => {
              event.preventDefault();
              add();
            }}
          >
            {t("ip.add")}
          </button>
          <code className="min-w-0 break-all font-mono text-xs text-soft" aria-live="polite">
            {argument ?? (done && t("ip.added", { argument: done }))}
          </code>
        </div>
      </fieldset>
    </details>
  );
}
