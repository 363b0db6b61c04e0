"use client";
/** A set of radio buttons drawn as tiles; what cannot be chosen says why. */
import type { Lack } from "../../lib/domain/form/availability.ts";
import { useWords } from "../words/words-provider.tsx";
import { lackText } from "./lack-text.ts";

export interface Choice<T extends string> {
  value: T;
  label: string;
  hint?: string;
  lack?: Lack | null;
}

interface Props<T extends string> {
  name: string;
  choices: Choice<T>[];
  value: string;
  onChange: (value: T) => void;
  /** Tailwind classes for the columns. */
  columns: string;
  describedBy?: string;
}

export function Choices<T extends string>({
  name,
  choices,
  value,
  onChange,
  columns,
  describedBy,
}: Props<T>) {
  const words = useWords();
  return (
    <div className={`grid gap-2 ${columns}`}>
      {choices.map(({ value: own, label, hint, lack = null }) => {
        const chosen = own === value;
        const note = lack === null ? hint : lackText(words, lack);
        return (
          <label key={own} className="choice">
            <input
              type="radio"
              name={name}
              value={own}
              checked={chosen}
              disabled={lack !== null && !chosen}
              aria-describedby={describedBy}
              onChange={() => onChange(own)}
            />
            <span className="min-w-0">
              <span className="block text-sm font-medium">{label}</span>
              {note && <span className="block text-xs text-soft">{note}</span>}
            </span>
          </label>
        );
      })}
    </div>
  );
}
