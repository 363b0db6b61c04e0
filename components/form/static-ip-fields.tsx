"use client";
/** Helps to write `ip=`: fields for a fixed address, checked, then put into the kernel arguments. */
import { useState } from "react";
import {
  checkStaticIp,
  EMPTY_IP,
  IP_FIELDS,
  type IpFault,
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

interface FieldProps {
  name: IpField;
  value: string;
  fault: IpFault | undefined;
  onChange: (value: string) => void;
}

function Field({ name, value, fault, onChange }: FieldProps) {
  const { t } = useWords();
  return (
    <label className="text-sm">
      <span className="mb-1 block font-medium">{t(`ip.${name}`)}</span>
      <input
        id={`ip-${name}`}
        name={`ip-${name}`}
        className="input font-mono text-sm"
        value={value}
        placeholder={EXAMPLES[name]}
        aria-invalid={fault !== undefined}
        aria-describedby={`ip-${name}-fault`}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`ip-${name}-fault`} className="block text-xs text-bad">
        {fault && t(`ip.fault.${fault}`)}
      </span>
    </label>
  );
}

/** Puts the argument in; without scripts it is sent. What it will be, or was, stands beside it. */
function AddLine({ argument, done, onAdd }: { argument: string | null; done: string; onAdd: () => void }) {
  const { t } = useWords();
  return (
    <div className="flex flex-wrap items-center gap-3">
      <button
        type="submit"
        name="intent"
        value="add-ip"
        className="button"
        onClick={(event) => {
          event.preventDefault();
          onAdd();
        }}
      >
        {t("ip.add")}
      </button>
      <code className="min-w-0 break-all font-mono text-xs text-soft" aria-live="polite">
        {argument ?? (done && t("ip.added", { argument: done }))}
      </code>
    </div>
  );
}

export function StaticIpFields({ initial, cmdline, onAdd }: Props) {
  const { t } = useWords();
  const [ip, setIp] = useState(initial ?? EMPTY_IP);
  // Nothing is called wrong before somebody has asked for it.
  const [asked, setAsked] = useState(initial !== null);
  const [done, setDone] = useState("");
  const { faults, argument } = checkStaticIp(ip);
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
          {IP_FIELDS.map((name) => (
            <Field
              key={name}
              name={name}
              value={ip[name]}
              fault={asked ? faults[name] : undefined}
              onChange={(value) => setIp({ ...ip, [name]: value })}
            />
          ))}
        </div>
        <AddLine argument={argument} done={done} onAdd={add} />
      </fieldset>
    </details>
  );
}
