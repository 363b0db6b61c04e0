"use client";
/** Where Talos documents the chosen platform or board. */
import { talosGuide } from "../../lib/domain/talos-guides.ts";
import { useWords } from "../words/words-provider.tsx";

export interface GuideSubject {
  label: string;
  documentation: string | null;
}

/** Nothing for a choice without a page. */
export function GuideLink({ subject, version }: { subject: GuideSubject | null; version: string }) {
  const { t } = useWords();
  if (subject?.documentation == null) return null;
  return (
    <p className="text-sm">
      <a className="link" href={talosGuide(version, subject.documentation)}>
        {t("machine.guide", { name: subject.label })}
      </a>
    </p>
  );
}
