"use client";
/** System extensions: search, what each is for, chosen ones first, and their order. */
import { useMemo, useRef, useState } from "react";
import { extensionConflicts } from "../../lib/domain/form/extension-conflicts.ts";
import type { ExtensionHistory } from "../../lib/domain/form/extension-history.ts";
import { toggleExtension } from "../../lib/domain/form/extension-order.ts";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words-provider.tsx";
import { ExtensionList } from "./extension-list.tsx";
import { ExtensionOrder } from "./extension-order.tsx";
import { type ExtensionFilter, extensionRows } from "./extension-rows.ts";
import { ExtensionSearch } from "./extension-search.tsx";
import { Problems, Section } from "./section.tsx";
import type { StepProps } from "./step-props.ts";
import type { CatalogState } from "./use-catalog.ts";
import { warningText } from "./warning-text.ts";

interface Props extends StepProps {
  catalog: CatalogState;
  histories: ExtensionHistory[];
  initialSearch: ExtensionFilter;
}

/** Says at once which of the chosen ones do not go together. */
function Conflicts({ chosen, catalog }: { chosen: string[]; catalog: CatalogState }) {
  const words = useWords();
  const { extensions } = catalog;
  const conflicts = useMemo(() => extensionConflicts(chosen, extensions), [chosen, extensions]);
  return (
    <div role="status" className="empty:hidden">
      {conflicts.map((conflict) => (
        <Notice key={conflict.names.join(" ")}>{warningText(words, { kind: "conflict", conflict })}</Notice>
      ))}
    </div>
  );
}

export function ExtensionStep({ form, change, problems, catalog, histories, initialSearch }: Props) {
  const { t, plural } = useWords();
  const { version, extensions: chosen } = form;
  const [filter, setFilter] = useState(initialSearch);
  // The order stays as it is while boxes are ticked, so that no row jumps away under the pointer.
  const [pinned, setPinned] = useState(chosen);
  const list = useRef<HTMLUListElement>(null);
  const offered = catalog.extensions;
  const rows = useMemo(
    () => extensionRows({ version, catalog: offered ?? [], histories, chosen, pinned, filter }),
    [version, offered, histories, chosen, pinned, filter],
  );
  const narrow = (part: Partial<ExtensionFilter>) => {
    setFilter({ ...filter, ...part });
    setPinned(chosen);
  };
  const order = (extensions: string[]) => change({ extensions });
  const enterList = () => list.current?.querySelector<HTMLInputElement>("input[tabindex='0']")?.focus();
  return (
    <Section id="extensions" title={t("extensions.title")} help={plural("extensions.chosen", chosen.length)}>
      <input type="hidden" name="extensions" value="-" />
      {chosen.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat
        <input key={index} type="hidden" name="order" value={name} />
      ))}
      <ExtensionSearch filter={filter} onNarrow={narrow} onLeave={enterList} />
      <Conflicts chosen={chosen} catalog={catalog} />
      <Problems id="extensions-problem" problems={problems("extensions")} version={version} />
      {catalog.state === "failed" && <p className="text-sm text-bad">{t("extensions.failed")}</p>}
      {rows.length === 0 && catalog.state === "ready" && (
        <p className="border border-dashed border-line px-3 py-6 text-center text-sm text-soft">
          {filter.words === "" ? t("extensions.none") : t("extensions.nothing", { search: filter.words })}
        </p>
      )}
      <ExtensionList
        {...{ rows, chosen, list }}
        loading={catalog.state === "loading"}
        onToggle={(name, on) => order(toggleExtension(chosen, name, on))}
      />
      {chosen.length > 1 && <ExtensionOrder names={chosen} onOrder={order} />}
    </Section>
  );
}
