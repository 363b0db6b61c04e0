/** Pins: what may become one, which may be adopted, and how they are shown. */
import { z } from "zod";
import { ARCHES } from "../../domain/asset.ts";
import type { ExtensionReport, Finding } from "../../domain/extension-report.ts";
import { type OwnPin, requireRange } from "../../domain/own-sources.ts";
import { quoteText } from "../../domain/quote.ts";
import type { Release } from "../../domain/release.ts";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import type { AdoptRequest, OwnPinView } from "./contracts.ts";

const findingSchema = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "hint"]),
  message: z.string(),
  path: z.string().exactOptional(),
  hint: z.string().exactOptional(),
});

const metadataSchema = z.object({
  name: z.string(),
  version: z.string(),
  author: z.string(),
  description: z.string(),
  compatibility: z.object({ talos: z.object({ version: z.string() }) }),
  extraInfo: z.string().exactOptional(),
});

const reportsSchema = z.array(
  z.object({
    metadata: metadataSchema.nullable(),
    arch: z.enum(ARCHES),
    talos: z.string().nullable(),
    findings: z.array(findingSchema),
    files: z.number(),
    sizeBytes: z.number(),
    services: z.array(
      z.object({
        name: z.string(),
        environment: z.array(z.string()),
        environmentFile: z.string().nullable(),
        mounts: z.array(z.object({ source: z.string(), destination: z.string() })),
      }),
    ),
    kernels: z.array(z.string()),
  }),
);

/** How many findings of a severity the reports have; equal ones of two architectures count once. */
export function countFindings(reports: readonly ExtensionReport[], severity: Finding["severity"]): number {
  const all = reports.flatMap(({ findings }) => findings.filter((one) => one.severity === severity));
  return new Set(all.map(({ code, path, message }) => JSON.stringify([code, path, message]))).size;
}

/** The pin with its reports read. */
export function toPinView({ report, ...pin }: OwnPin): OwnPinView {
  const reports: ExtensionReport[] = reportsSchema.parse(report);
  return {
    ...pin,
    reports,
    errors: countFindings(reports, "error"),
    warnings: countFindings(reports, "warning"),
  };
}

/** invalid_input with the whole report when it has errors: such an image is not kept. */
export function refuseErrors(name: string, reports: readonly ExtensionReport[]): void {
  const errors = reports.flatMap(({ findings }) => findings.filter((one) => one.severity === "error"));
  const [first] = errors;
  if (first === undefined) return;
  const more = countFindings(reports, "error") - 1;
  throw new AppError(
    "invalid_input",
    `${name} cannot be used: ${first.message}${more > 0 ? ` (and ${more} more)` : ""}`,
    { hint: first.hint ?? "Mend it and try again.", details: { reports }, retryable: false },
  );
}

/** Characters of the reports of one image that are kept; honest ones have a few thousand. */
const MOST_REPORT = 128 * 1024;

/** invalid_input when it has errors, or says more of itself than anybody would read. */
export function requireUsable(name: string, reports: readonly ExtensionReport[]): void {
  refuseErrors(name, reports);
  if (JSON.stringify(reports).length <= MOST_REPORT) return;
  throw invalidInput(`${name} cannot be used: its report has more than ${MOST_REPORT} characters`, {
    hint: "Shorten what its manifest and its service definitions say, and mend what the checks find; casthouse extension check shows all of it.",
  });
}

/** The pin as it is once adopted. conflict for errors, unread warnings, and an official name without override. */
export function adopted(pin: OwnPin, request: AdoptRequest, official: readonly Release[], at: Date): OwnPin {
  const view = toPinView(pin);
  refuseErrors(pin.name, view.reports);
  const accepted = pin.accepted || request.acceptWarnings === true;
  if (view.warnings > 0 && !accepted)
    throw new AppError("conflict", `${pin.name} has ${view.warnings} warnings that nobody has accepted`, {
      hint: "Read them, then adopt it with acceptWarnings.",
      details: { reports: view.reports },
      retryable: false,
    });
  refuseOfficialName(pin, official);
  const talos = request.talos === undefined ? pin.talos : requireRange(request.talos);
  return { ...pin, talos, accepted, state: "adopted", adoptedAt: at };
}

/** conflict when a release has an official entry of that name and nobody said that it is meant to be replaced. */
export function refuseOfficialName(
  { subject, name, override }: Pick<OwnPin, "subject" | "name" | "override">,
  official: readonly Release[],
): void {
  if (override) return;
  const taken = official.find((release) =>
    (subject === "extension" ? release.extensions : release.overlays).some((entry) => entry.name === name),
  );
  if (taken === undefined) return;
  throw new AppError("conflict", `Talos ${taken.version} has an official ${subject} ${quoteText(name)}`, {
    hint: "Choose another name, or make the source with override to replace the official one everywhere.",
    retryable: false,
  });
}
