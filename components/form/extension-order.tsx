"use client";
/** The order of the chosen extensions, which is part of the ID: buttons move one up or down. */
import { useEffect, useRef, useState } from "react";
import { isDefaultOrder, moveExtension, sortedNames } from "../../lib/domain/form/extension-order.ts";
import { useWords } from "../words/words-provider.tsx";
import { shortName } from "./warning-text.ts";

interface Props {
  names: string[];
  onOrder: (names: string[]) => void;
}

const STEPS = [
  { way: "up", by: -1, sign: "↑" },
  { way: "down", by: 1, sign: "↓" },
] as const;

export function ExtensionOrder({ names, onOrder }: Props) {
  const { t } = useWords();
  const list = useRef<HTMLOListElement>(null);
  const [moved, setMoved] = useState<{ place: number; way: "up" | "down" } | null>(null);
  // The focus stays on the row that moved; at an end its other button takes it.
  useEffect(() => {
    if (moved === null) return;
    const row = list.current?.children[moved.place];
    const buttons = [...(row?.querySelectorAll("button") ?? [])].filter((button) => !button.disabled);
    (buttons.find((button) => button.dataset.way === moved.way) ?? buttons[0])?.focus();
  }, [moved]);
  const move = (from: number, by: number, way: "up" | "down") => {
    onOrder(moveExtension(names, from, from + by));
    setMoved({ place: from + by, way });
  };
  const isDefault = isDefaultOrder(names);
  const [atStart] = useState(!isDefault);
  return (
    <details open={atStart}>
      <summary className="text-sm text-soft">{t(isDefault ? "order.default" : "order.own")}</summary>
      <p className="mt-2 text-sm text-soft">{t("order.hint")}</p>
      <ol ref={list} className="mt-2 divide-y divide-line rounded-md border border-line bg-raised">
        {names.map((name, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an opened schematic may hold a name twice
          <li key={`${name} ${place}`} className="flex items-center gap-2 py-1 pl-3 pr-1 text-sm">
            <span className="w-5 text-right text-soft">{place + 1}</span>
            <span className="min-w-0 flex-1 break-all">{shortName(name)}</span>
            {STEPS.map(({ way, by, sign }) => (
              <button
                key={way}
                type="submit"
                name="move"
                value={`${place} ${by}`}
                data-way={way}
                className="button button-small min-w-8"
                disabled={place + by < 0 || place + by >= names.length}
                aria-label={t(`order.${way}`, { name: shortName(name) })}
                onClick={(event) => {
                  event.preventDefault();
                  move(place, by, way);
                }}
              >
                {sign}
              </button>
            ))}
          </li>
        ))}
      </ol>
      <p className="sr-only" aria-live="polite">
        {moved &&
          t("order.said", {
            name: shortName(names[moved.place] ?? ""),
            place: moved.place + 1,
            count: names.length,
          })}
      </p>
      {!isDefault && (
        <button
          type="submit"
          name="move"
          value="sort"
          className="button button-small mt-2"
          onClick={(event) => {
            event.preventDefault();
            onOrder(sortedNames(names));
          }}
        >
          {t("order.sort")}
        </button>
      )}
    </details>
  );
}
