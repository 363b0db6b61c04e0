"use client";
/** System extensions: search, what each is for, chosen ones first; space chooses, arrows move. */
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { extensionConflicts } from "../../lib/domain/form/extension-conflicts.ts";
import type { ExtensionHistory } from "../../lib/domain/form/extension-history.ts";
import { toggleExtension } from "../../lib/domain/form/extension-order.ts";
import { PURPOSES } from "../../lib/domain/form/extension-purpose.ts";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words-provider.tsx";
import { ExtensionOrder } from "./extension-order.tsx";
import { ExtensionRow } from "./extension-row.tsx";
import { type ExtensionFilter, extensionRows } from "./extension-rows.ts";
import { ApplyButton, Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";
import type { CatalogState } from "./use-catalog.ts";
import { warningText } from "./warning-text.ts";

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

interface Props extends StepProps {
  catalog: CatalogState;
  histories: ExtensionHistory[];
  initialSearch: ExtensionFilter;
}

export function ExtensionStep({ form, change, problems, catalog, histories, initialSearch }: Props) {
  const words = useWords();
  const { t, plural } = words;
  const { version, extensions: chosen } = form;
  const [filter, setFilter] = useState(initialSearch);
  // The order stays as it is while boxes are ticked, so that no row jumps away under the pointer.
  const [pinned, setPinned] = useState(chosen);
  const [current, setCurrent] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const offered = catalog.extensions;
  const rows = useMemo(
    () => extensionRows({ version, catalog: offered ?? [], histories, chosen, pinned, filter }),
    [version, offered, histories, chosen, pinned, filter],
  );
  const conflicts = useMemo(() => extensionConflicts(chosen, offered), [chosen, offered]);
  const usable = rows.filter((row) => row.lack === null || chosen.includes(row.name));
  const stop = usable.some((row) => row.name === current) ? current : (usable[0]?.name ?? null);
  const narrow = (part: Partial<ExtensionFilter>) => {
    setFilter({ ...filter, ...part });
    setPinned(chosen);
  };
  return (
    <Section id="extensions" title={t("extensions.title")} help={plural("extensions.chosen", chosen.length)}>
      <input type="hidden" name="extensions" value="-" />
      {chosen.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat
        <input key={index} type="hidden" name="order" value={name} />
      ))}
      <div className="flex flex-wrap gap-2">
        <input
          type="search"
          name="search"
          className="input min-w-48 flex-1"
          value={filter.words}
          aria-label={t("extensions.search")}
          placeholder={t("extensions.search.placeholder")}
          autoComplete="off"
          onChange={(event) => narrow({ words: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.preventDefault();
            if (event.key === "ArrowDown") {
              event.preventDefault();
              list.current?.querySelector<HTMLInputElement>("input[tabindex='0']")?.focus();
            }
          }}
        />
        <select
          name="purpose"
          className="input w-auto pr-8"
          aria-label={t("purpose.label")}
          value={filter.purpose}
          onChange={(event) => narrow({ purpose: event.target.value })}
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
      <div role="status" className="empty:hidden">
        {conflicts.map((conflict) => (
          <Notice key={conflict.names.join(" ")}>{warningText(words, { kind: "conflict", conflict })}</Notice>
        ))}
      </div>
      <Problems id="extensions-problem" problems={problems("extensions")} version={version} />
      {catalog.state === "failed" && <p className="text-sm text-bad">{t("extensions.failed")}</p>}
      {rows.length === 0 && catalog.state === "ready" && (
        <p className="border border-dashed border-line px-3 py-6 text-center text-sm text-soft">
          {filter.words === "" ? t("extensions.none") : t("extensions.nothing", { search: filter.words })}
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
              checked={chosen.includes(row.name)}
              tabStop={row.name === stop}
              onFocus={() => setCurrent(row.name)}
              onToggle={(on) => change({ extensions: toggleExtension(chosen, row.name, on) })}
            />
          ))}
        </ul>
      )}
      {chosen.length > 1 && (
        <ExtensionOrder names={chosen} onOrder={(extensions) => change({ extensions })} />
      )}
    </Section>
  );
}
