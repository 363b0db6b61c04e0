/** Problems and notes about everything that is no extension, and the parts that can be left out. */
import type { Finding, LeavablePart } from "../../lib/domain/upgrade/upgrade-types.ts";
import { Badge } from "../ui/badge.tsx";
import type { MessageKey, Words } from "../words/translator.ts";

interface Props {
  words: Words;
  findings: Finding[];
  /** Parts left out already: they can be taken back. */
  leftOut: LeavablePart[];
  /** Version the check is for. */
  to: string;
  /** Field of the form that decides what is left out. */
  form: string;
}

const PART_WORDS = {
  embeddedMachineConfiguration: "upgrade.part.embeddedMachineConfiguration",
  bootloader: "upgrade.part.bootloader",
  "secureboot.enrollKeys": "upgrade.part.secureboot.enrollKeys",
} as const satisfies Record<LeavablePart, MessageKey>;

interface LeaveOutProps {
  words: Words;
  part: LeavablePart;
  checked: boolean;
  form: string;
}

function LeaveOut({ words, part, checked, form }: LeaveOutProps) {
  return (
    <label className="mt-1 flex items-center gap-2">
      <input type="checkbox" name="leave-out" value={part} form={form} defaultChecked={checked} />
      {words.t("upgrade.leave-out")}
      <span className="sr-only">{words.t(PART_WORDS[part])}</span>
    </label>
  );
}

export function FindingList({ words, findings, leftOut, to, form }: Props) {
  const { t } = words;
  const placed = findings.map((finding, at) => ({ ...finding, at }));
  return (
    <ul className="divide-y divide-line border-y border-line text-sm">
      {placed.map(({ at, level, code, values, part }) => (
        <li key={at} className="flex items-baseline justify-between gap-4 py-2.5">
          <span className="min-w-0 max-w-prose">
            {t(`upgrade.find.${code}`, { to, ...values })}
            {part !== null && <LeaveOut words={words} part={part} checked={false} form={form} />}
          </span>
          <Badge tone={level === "problem" ? "bad" : "plain"}>{t(`upgrade.level.${level}`)}</Badge>
        </li>
      ))}
      {leftOut.map((part) => (
        <li key={part} className="flex items-baseline justify-between gap-4 py-2.5">
          <span className="min-w-0 max-w-prose">
            {t(PART_WORDS[part])}
            <LeaveOut words={words} part={part} checked={true} form={form} />
          </span>
          <Badge tone="warn">{t("upgrade.left-out")}</Badge>
        </li>
      ))}
    </ul>
  );
}
