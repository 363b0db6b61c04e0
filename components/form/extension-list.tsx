"use client";
/** The extensions one can choose: space chooses, arrows move; one row at a time is a stop of the tab key. */
import { type KeyboardEvent, type RefObject, useState } from "react";
import { ExtensionRow } from "./extension-row.tsx";
import type { ExtensionRow as Row } from "./extension-rows.ts";

/** Arrow keys, Home and End move between the check boxes of the list. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const boxes = [...event.currentTarget.querySelectorAll<HTMLInputElement>("input:not(:disabled)")];
  const at = boxes.findIndex((box) => box.matches(":focus"));
  const last = boxes.length - 1;
  const targets: Record<string, number> = {
    ArrowDown: Math.min(at + 1, last),
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: last,
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  boxes[target]?.focus();
}

interface Props {
  rows: readonly Row[];
  chosen: readonly string[];
  /** True while another version's list is on its way. */
  loading: boolean;
  list: RefObject<HTMLUListElement | null>;
  onToggle: (name: string, on: boolean) => void;
}

export function ExtensionList({ rows, chosen, loading, list, onToggle }: Props) {
  const [current, setCurrent] = useState<string | null>(null);
  const usable = rows.filter((row) => row.lack === null || chosen.includes(row.name));
  const stop = usable.some((row) => row.name === current) ? current : (usable[0]?.name ?? null);
  if (rows.length === 0) return null;
  return (
    <ul
      ref={list}
      aria-busy={loading}
      onKeyDown={moveFocus}
      className={`max-h-[26rem] divide-y divide-line overflow-y-auto rounded-md border border-line bg-raised ${loading ? "opacity-60" : ""}`}
    >
      {rows.map((row) => (
        <ExtensionRow
          key={row.name}
          row={row}
          checked={chosen.includes(row.name)}
          tabStop={row.name === stop}
          onFocus={() => setCurrent(row.name)}
          onToggle={(on) => onToggle(row.name, on)}
        />
      ))}
    </ul>
  );
}
