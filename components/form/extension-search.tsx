"use client";
/** Narrows the list of extensions: words, and what they are for. */
import type { KeyboardEvent } from "react";
import { PURPOSES } from "../../lib/domain/form/extension-purpose.ts";
import { useWords } from "../words/words-provider.tsx";
import type { ExtensionFilter } from "./extension-rows.ts";
import { ApplyButton } from "./section.tsx";

interface Props {
  filter: ExtensionFilter;
  onNarrow: (part: Partial<ExtensionFilter>) => void;
  /** The arrow down leaves the field for the list. */
  onLeave: () => void;
}

export function ExtensionSearch({ filter, onNarrow, onLeave }: Props) {
  const { t } = useWords();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    if (event.key === "ArrowDown") onLeave();
  };
  return (
    <div className="flex flex-wrap gap-2">
      <input
        type="search"
        name="search"
        className="input min-w-48 flex-1"
        value={filter.words}
        aria-label={t("extensions.search")}
        placeholder={t("extensions.search.placeholder")}
        autoComplete="off"
        onChange={(event) => onNarrow({ words: event.target.value })}
        onKeyDown={onKeyDown}
      />
      <select
        name="purpose"
        className="input w-auto pr-8"
        aria-label={t("purpose.label")}
        value={filter.purpose}
        onChange={(event) => onNarrow({ purpose: event.target.value })}
      >
        <option value="">{t("purpose.all")}</option>
        {PURPOSES.map((purpose) => (
          <option key={purpose} value={purpose}>
            {t(`purpose.${purpose}`)}
          </option>
        ))}
      </select>
      <ApplyButton />
    </div>
  );
}
