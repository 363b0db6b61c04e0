"use client";
/** The order of the chosen extensions, which is part of the ID: buttons move one up or down. */
import { type RefObject, useEffect, useRef, useState } from "react";
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

type Way = (typeof STEPS)[number]["way"];

interface Moved {
  /** Where it is now. */
  place: number;
  way: Way;
}

interface MoveProps {
  name: string;
  place: number;
  count: number;
  onMove: (by: number, way: Way) => void;
}

/** The buttons that move one extension; without scripts they are sent. */
function MoveButtons({ name, place, count, onMove }: MoveProps) {
  const { t } = useWords();
  return STEPS.map(({ way, by, sign }) => (
    <button
      key={way}
      type="submit"
      name="move"
      value={`${place} ${by}`}
      data-way={way}
      className="button button-small min-w-8"
      disabled={place + by < 0 || place + by >= count}
      aria-label={t(`order.${way}`, { name: shortName(name) })}
      onClick={(event) => {
        event.preventDefault();
        onMove(by, way);
      }}
    >
      {sign}
    </button>
  ));
}

/** The order that nobody has to choose. */
function SortButton({ onSort }: { onSort: () => void }) {
  const { t } = useWords();
  return (
    <button
      type="submit"
      name="move"
      value="sort"
      className="button button-small mt-2"
      onClick={(event) => {
        event.preventDefault();
        onSort();
      }}
    >
      {t("order.sort")}
    </button>
  );
}

/** Keeps the focus on the row that moved; at an end its other button takes it. */
function useMovedFocus(list: RefObject<HTMLOListElement | null>, moved: Moved | null): void {
  useEffect(() => {
    if (moved === null) return;
    const row = list.current?.children[moved.place];
    const buttons = [...(row?.querySelectorAll("button") ?? [])].filter((button) => !button.disabled);
    (buttons.find((button) => button.dataset.way === moved.way) ?? buttons[0])?.focus();
  }, [list, moved]);
}

export function ExtensionOrder({ names, onOrder }: Props) {
  const { t } = useWords();
  const list = useRef<HTMLOListElement>(null);
  const [moved, setMoved] = useState<Moved | null>(null);
  useMovedFocus(list, moved);
  const move = (from: number, by: number, way: Way) => {
    onOrder(moveExtension(names, from, from + by));
    setMoved({ place: from + by, way });
  };
  const said = (place: number) => ({
    name: shortName(names[place] ?? ""),
    place: place + 1,
    count: names.length,
  });
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
            <MoveButtons
              {...{ name, place }}
              count={names.length}
              onMove={(by, way) => move(place, by, way)}
            />
          </li>
        ))}
      </ol>
      <p className="sr-only" aria-live="polite">
        {moved && t("order.said", said(moved.place))}
      </p>
      {!isDefault && <SortButton onSort={() => onOrder(sortedNames(names))} />}
    </details>
  );
}
