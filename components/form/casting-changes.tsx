"use client";
/** What the choice says that a plain image, or the schematic it was opened from, does not. */
import { useMemo } from "react";
import type { Opened } from "../../lib/domain/form/form-address.ts";
import { schematicChanges } from "../../lib/domain/form/schematic-changes.ts";
import type { Schematic } from "../../lib/domain/schematic-types.ts";
import { shortId } from "../ui/id-mark.tsx";
import { useWords } from "../words/words-provider.tsx";
import { shortName } from "./warning-text.ts";

interface Line {
  change: "added" | "removed" | "changed" | "moved";
  text: string;
}

const SIGNS: Record<Line["change"], string> = { added: "+", removed: "−", changed: "≠", moved: "↕" };
const PLAIN: Schematic = { customization: {} };
const LONGEST_VALUE = 60;

const short = (text: string): string => (text.length > LONGEST_VALUE || text.includes("\n") ? "…" : text);

function linesOf(before: Schematic, after: Schematic): Line[] {
  const { extensions, arguments: words, fields } = schematicChanges(before, after);
  return [
    ...extensions.map(({ change, value }) => ({ change, text: shortName(value) })),
    ...words.map(({ change, value }) => ({ change, text: value })),
    ...fields.map(({ path, change, before: old, after: now }) => {
      const name = path.replace(/^overlay\.options\./, "");
      const value = now ?? old;
      return { change, text: value === null ? name : `${name}: ${short(value)}` };
    }),
  ];
}

export function CastingChanges({
  schematic,
  opened,
}: {
  schematic: Schematic | null;
  opened: Opened | null;
}) {
  const { t } = useWords();
  const lines = useMemo(
    () => (schematic === null ? null : linesOf(opened?.schematic ?? PLAIN, schematic)),
    [schematic, opened],
  );
  if (lines === null) return null;
  return (
    <div>
      <h3 className="eyebrow mb-1">
        {opened === null ? t("changes.plain") : t("changes.opened", { id: shortId(opened.id) })}
      </h3>
      {lines.length === 0 ? (
        <p className="text-sm text-soft">
          {opened === null ? t("changes.none.plain") : t("changes.none.opened")}
        </p>
      ) : (
        <ul className="space-y-0.5 text-sm">
          {lines.map(({ change, text }) => (
            <li key={`${change} ${text}`} className="flex gap-2">
              <span aria-hidden="true" className="w-3 flex-none text-center font-mono text-accent">
                {SIGNS[change]}
              </span>
              <span className="sr-only">{t(`changes.${change}`)}</span>
              <span className={`break-all ${change === "removed" ? "text-soft line-through" : ""}`}>
                {text}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
