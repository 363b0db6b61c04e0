"use client";
/** The Talos version, grouped by minor line, newest first. */
import { isPrerelease, minorLine } from "../../lib/domain/versions.ts";
import { Badge } from "../ui/badge.tsx";
import { useWords } from "../words/words-provider.tsx";
import { ApplyButton, Problems, Section } from "./section.tsx";
import type { OfferedVersion, StepProps } from "./step-props.ts";

/** Versions by minor line, in the order given. */
function groups(versions: OfferedVersion[]): [line: string, versions: OfferedVersion[]][] {
  const lines = new Map<string, OfferedVersion[]>();
  for (const item of versions) {
    const line = minorLine(item.version);
    lines.set(line, [...(lines.get(line) ?? []), item]);
  }
  return [...lines];
}

export function VersionStep({
  form,
  change,
  problems,
  versions,
}: StepProps & { versions: OfferedVersion[] }) {
  const { t } = useWords();
  const newest = versions.find((item) => !isPrerelease(item.version))?.version;
  const chosen = versions.find((item) => item.version === form.version);
  const wrong = problems("version");
  return (
    <Section id="version" title={t("version.title")} group={false}>
      <div className="flex flex-wrap items-center gap-3">
        <select
          name="version"
          aria-labelledby="version-title"
          aria-describedby="version-problem version-notes"
          aria-invalid={wrong.length > 0}
          className="input w-auto min-w-52 pr-8"
          value={form.version}
          onChange={(event) => change({ version: event.target.value })}
        >
          {!chosen && <option value={form.version}>{t("version.unknown", { version: form.version })}</option>}
          {groups(versions).map(([line, members]) => (
            <optgroup key={line} label={`Talos ${line}`}>
              {members.map(({ version, sample }) => (
                <option key={version} value={version}>
                  {`v${version}${version === newest ? ` · ${t("version.newest")}` : ""}${sample ? ` · ${t("sample.short")}` : ""}`}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <span id="version-notes" className="flex flex-wrap gap-2">
          {chosen?.sample && <Badge tone="warn">{t("sample.long")}</Badge>}
          {isPrerelease(form.version) && <Badge tone="warn">{t("version.prerelease")}</Badge>}
        </span>
        <ApplyButton />
      </div>
      {isPrerelease(form.version) && <p className="text-sm text-soft">{t("version.prerelease.hint")}</p>}
      <Problems id="version-problem" problems={wrong} version={form.version} />
    </Section>
  );
}
