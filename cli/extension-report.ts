/** The report of an extension as lines for people. */
import type { ExtensionReport, Finding } from "../lib/domain/extension-report.ts";
import { invalidInput } from "../lib/errors/app-error.ts";

const WORDS = { error: "error  ", warning: "warning", hint: "hint   " } as const;

/** Every finding once, with the architectures it is about where there are several. */
export function reportLines(reports: readonly ExtensionReport[]): string[] {
  const [first] = reports;
  if (first === undefined) return [];
  const { metadata, talos, files, sizeBytes, services } = first;
  const name =
    metadata === null ? "without a manifest that can be read" : `${metadata.name} ${metadata.version}`;
  const arches = reports.map(({ arch }) => arch).join(" and ");
  const against = talos === null ? "any release" : talos;
  const size = `${files} files, ${sizeBytes} bytes`;
  const service = services.map((one) => `, service ext-${one.name}`).join("");
  const head = `extension ${name} for ${arches}, against ${against}: ${size}${service}`;
  return [
    head,
    ...joined(reports).flatMap(findingLines),
    ...(joined(reports).length === 0 ? ["nothing found"] : []),
  ];
}

/** Findings of all reports, equal ones once. */
function joined(reports: readonly ExtensionReport[]): Finding[] {
  const all = reports.flatMap(({ findings }) => findings);
  return [...new Map(all.map((finding) => [JSON.stringify(finding), finding])).values()];
}

const findingLines = ({ severity, code, message, hint }: Finding): string[] => [
  `${WORDS[severity]} ${code}: ${message}`,
  ...(hint === undefined ? [] : [`        ${hint}`]),
];

/** invalid_input when a report has errors: nothing is packed or sent then, and scripts see it. */
export function refuseErrors(named: string, reports: readonly ExtensionReport[]): void {
  const count = joined(reports).filter(({ severity }) => severity === "error").length;
  if (count > 0)
    throw invalidInput(`${named} has ${count} error${count === 1 ? "" : "s"}`, {
      hint: "docs/own-extensions.md says what each code means.",
    });
}
