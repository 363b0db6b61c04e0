"use client";
/** System extensions: search, what each is for, chosen ones first; space chooses, arrows move. */
import { type KeyboardEvent, useRef, useState } from "react";
import { findExtension } from "../../lib/domain/extension-lookup.ts";
import { sortedNames } from "../../lib/domain/form/form-state.ts";
import type { CatalogExtension } from "../../lib/domain/release.ts";
import { useWords } from "../words/words-provider.tsx";
import { matchesSearch, type ShownExtension, showExtension } from "./extension-text.ts";
import { ApplyButton, Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";
import type { CatalogState } from "./use-catalog.ts";

/** Hidden by the form: it belongs to a management service, not to an image. */
const HIDDEN = new Set(["siderolabs/metal-agent"]);

/** Chosen names first (also those the release lacks), then what the search leaves, in catalog order. */
function rowsOf(
  catalog: readonly CatalogExtension[],
  chosen: readonly string[],
  pinned: readonly string[],
  search: string,
) {
  const shown = catalog.filter((entry) => !HIDDEN.has(entry.name)).map(showExtension);
  const missing = chosen
    .filter((name) => findExtension(catalog, name) === null)
    .map((name) => showExtension({ name, ref: "", digest: "", author: "", description: "" }));
  const isPinned = (row: ShownExtension) => pinned.includes(row.name);
  const keep = (row: ShownExtension) => chosen.includes(row.name) || matchesSearch(row, search);
  return [...missing, ...shown.filter(isPinned), ...shown.filter((row) => !isPinned(row))].filter(keep);
}

/** Arrow keys, Home and End move between the check boxes of the list. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const boxes = [...event.currentTarget.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
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

interface Props extends StepProps {
  catalog: CatalogState;
  initialSearch: string;
}

export function ExtensionStep({ form, change, problems, catalog, initialSearch }: Props) {
  const { t, plural } = useWords();
  const [search, setSearch] = useState(initialSearch);
  // The order stays as it is while boxes are ticked, so that no row jumps away under the pointer.
  const [pinned, setPinned] = useState(form.extensions);
  const [current, setCurrent] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const rows = rowsOf(catalog.extensions ?? [], form.extensions, pinned, search);
  const stop = rows.some((row) => row.name === current) ? current : (rows[0]?.name ?? null);
  const toggle = (name: string, on: boolean) =>
    change({
      extensions: on
        ? sortedNames([...form.extensions, name])
        : form.extensions.filter((one) => one !== name),
    });
  return (
    <Section
      id="extensions"
      title={t("extensions.title")}
      help={plural("extensions.chosen", form.extensions.length)}
    >
      <input type="hidden" name="extensions" value="-" />
      <div className="flex gap-2">
        <input
          type="search"
          name="search"
          className="input"
          value={search}
          aria-label={t("extensions.search")}
          placeholder={t("extensions.search.placeholder")}
          autoComplete="off"
          onChange={(event) => {
            setSearch(event.target.value);
            setPinned(form.extensions);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.preventDefault();
            if (event.key === "ArrowDown") {
              event.preventDefault();
              list.current?.querySelector<HTMLInputElement>("input[tabindex='0']")?.focus();
            }
          }}
        />
        <ApplyButton />
      </div>
      <Problems id="extensions-problem" problems={problems("extensions")} version={form.version} />
      {catalog.state === "failed" && <p className="text-sm text-bad">{t("extensions.failed")}</p>}
      {rows.length === 0 && catalog.state === "ready" && (
        <p className="border border-dashed border-line px-3 py-6 text-center text-sm text-soft">
          {search === "" ? t("extensions.none") : t("extensions.nothing", { search })}
        </p>
      )}
      {rows.length > 0 && (
        <ul
          ref={list}
          aria-busy={catalog.state === "loading"}
          onKeyDown={moveFocus}
          className={`max-h-[26rem] divide-y divide-line overflow-y-auto rounded-md border border-line bg-raised ${catalog.state === "loading" ? "opacity-60" : ""}`}
        >
          {rows.map((row) => (
            <ExtensionRow
              key={row.name}
              row={row}
              checked={form.extensions.includes(row.name)}
              tabStop={row.name === stop}
              onFocus={() => setCurrent(row.name)}
              onToggle={(on) => toggle(row.name, on)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface RowProps {
  row: ShownExtension;
  checked: boolean;
  tabStop: boolean;
  onFocus: () => void;
  onToggle: (on: boolean) => void;
}

function ExtensionRow({ row, checked, tabStop, onFocus, onToggle }: RowProps) {
  return (
    <li>
      <label className="flex items-start gap-3 px-3 py-2.5 hover:bg-accent-wash has-checked:bg-accent-wash">
        <input
          type="checkbox"
          name="extensions"
          value={row.name}
          className="mt-0.5"
          checked={checked}
          tabIndex={tabStop ? 0 : -1}
          onFocus={onFocus}
          onChange={(event) => onToggle(event.target.checked)}
        />
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-baseline gap-x-2">
            <span className="text-sm font-medium">{row.title}</span>
            {row.tier && <span className="text-xs text-soft">{row.tier}</span>}
            <span className="ml-auto font-mono text-xs text-soft">{row.version}</span>
          </span>
          <span className="block text-sm text-soft">{row.description || row.vendor}</span>
        </span>
      </label>
    </li>
  );
}
