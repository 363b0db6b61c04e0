/** What the checks of an extension found, worst first. */
import type { ExtensionReport, Finding } from "../../lib/domain/extension-report.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

const TONES: Record<Finding["severity"], Tone> = { error: "bad", warning: "warn", hint: "plain" };

/** Findings with the platforms they are about; equal ones of both platforms once. */
function joined(reports: ExtensionReport[]): { finding: Finding; arches: string[] }[] {
  const found = new Map<string, { finding: Finding; arches: string[] }>();
  for (const { arch, findings } of reports) {
    for (const finding of findings) {
      const key = JSON.stringify([finding.code, finding.path, finding.message]);
      const known = found.get(key) ?? { finding, arches: [] };
      known.arches.push(arch);
      found.set(key, known);
    }
  }
  const order = ["error", "warning", "hint"];
  return [...found.values()].sort(
    (a, b) => order.indexOf(a.finding.severity) - order.indexOf(b.finding.severity),
  );
}

export function ReportView({ words, reports }: { words: Words; reports: ExtensionReport[] }) {
  const { t, size, plural } = words;
  const [first] = reports;
  if (first === undefined) return null;
  const findings = joined(reports);
  return (
    <div className="space-y-3">
      <p className="text-sm text-soft">
        {plural("own.files", first.files)} · {size(first.sizeBytes)} ·{" "}
        {reports.map(({ arch }) => arch).join(", ")}
        {first.talos !== null && ` · ${t("own.checked", { version: first.talos })}`}
      </p>
      {findings.length === 0 ? (
        <p>
          <Badge tone="good">{t("own.clean")}</Badge>
        </p>
      ) : (
        <ul className="space-y-2 text-sm">
          {findings.map(({ finding, arches }) => (
            <li key={`${finding.code} ${finding.path} ${finding.message}`} lang="en">
              <Badge tone={TONES[finding.severity]}>{t(`own.severity.${finding.severity}`)}</Badge>{" "}
              <span className="break-words">{finding.message}</span>
              {arches.length < reports.length && <span className="text-soft"> ({arches.join(", ")})</span>}
              {finding.path !== undefined && (
                <code className="block break-all text-soft">{finding.path}</code>
              )}
              {finding.hint !== undefined && <span className="block text-soft">{finding.hint}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
