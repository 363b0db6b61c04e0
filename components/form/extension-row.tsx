"use client";
/** One extension of the list: what it is for, its version, and why it cannot be chosen or should not be. */
import { OwnBadge } from "../own/own-badge.tsx";
import { useWords } from "../words/words-provider.tsx";
import type { ExtensionRow as Row } from "./extension-rows.ts";
import { shortName } from "./warning-text.ts";

interface Props {
  row: Row;
  checked: boolean;
  tabStop: boolean;
  onFocus: () => void;
  onToggle: (on: boolean) => void;
}

export function ExtensionRow({ row, checked, tabStop, onFocus, onToggle }: Props) {
  const { t } = useWords();
  const { lack } = row;
  const reason =
    lack === null
      ? null
      : "since" in lack
        ? t("lack.since", { version: lack.since })
        : t("lack.until", { version: lack.until });
  const disabled = lack !== null && !checked;
  return (
    <li>
      <label
        className={`flex items-start gap-3 px-3 py-2.5 has-checked:bg-accent-wash ${disabled ? "text-soft" : "hover:bg-accent-wash"}`}
      >
        <input
          type="checkbox"
          name="extensions"
          value={row.name}
          className="mt-0.5"
          checked={checked}
          disabled={disabled}
          tabIndex={tabStop ? 0 : -1}
          onFocus={onFocus}
          onChange={(event) => onToggle(event.target.checked)}
        />
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-baseline gap-x-2">
            <span className="break-all text-sm font-medium">{row.title}</span>
            {row.tier && <span className="text-xs text-soft">{row.tier}</span>}
            <OwnBadge t={t} mark={row.own} />
            <span className="ml-auto font-mono text-xs text-soft">{reason ?? row.version}</span>
          </span>
          <span className="block text-sm text-soft">{row.description || row.vendor}</span>
          {row.newer && (
            <span className="block text-xs text-soft">
              {t("extensions.newer", { version: row.newer.version, talos: row.newer.talos })}
            </span>
          )}
          {row.conflict !== null && (
            <span className="block text-xs text-warn">
              {t("extensions.conflict", { name: shortName(row.conflict) })}
            </span>
          )}
        </span>
      </label>
    </li>
  );
}
