"use client";
/** META values: named keys one click away, every other key by its number. */
import { useId, useState } from "react";
import {
  keyText,
  META_NAMES,
  type MetaField,
  type MetaName,
  mayBeSecret,
  metaName,
} from "../../lib/domain/form/meta-fields.ts";
import { useWords } from "../words/words-provider.tsx";
import { ApplyButton, FoldedSection, Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

/** In the order of their buttons. */
const NAMES: readonly MetaName[] = ["network", "code", "own1", "own2", "own3", "uuid", "token", "encryption"];

const EXAMPLES: Partial<Record<MetaName, string>> = {
  network: "addresses:\n  - address: 192.168.1.10/24\n    linkName: eth0",
  encryption: '{"provider": "luks2", "keys": [{"slot": 0, "nodeID": {}}]}',
  uuid: "00112233-4455-6677-8899-aabbccddeeff",
};

export function MetaStep({ form, change, problems }: StepProps) {
  const { t, plural } = useWords();
  const { meta } = form;
  const wrong = problems("meta");
  // Rows have no name of their own; a number each keeps the right one focused when another is taken out.
  const [ids, setIds] = useState(() => meta.map((_field, index) => index));
  const add = (key: string) => {
    setIds([...ids, Math.max(-1, ...ids) + 1]);
    change({ meta: [...meta, { key, value: "" }] });
  };
  const remove = (at: number) => {
    setIds(ids.filter((_id, index) => index !== at));
    change({ meta: meta.filter((_field, index) => index !== at) });
  };
  const edit = (at: number, part: Partial<MetaField>) =>
    change({ meta: meta.map((field, index) => (index === at ? { ...field, ...part } : field)) });
  const state = meta.length === 0 ? t("meta.none") : plural("meta.count", meta.length);
  return (
    <FoldedSection id="meta" title={t("meta.title")} state={state} open={meta.length > 0}>
      <p className="text-sm text-soft">{t("meta.hint")}</p>
      <input type="hidden" name="meta-key" value="" />
      <input type="hidden" name="meta-value" value="" />
      {meta.map((field, index) => (
        <MetaRow
          key={ids[index] ?? index}
          field={field}
          invalid={wrong.some(({ about }) => about === field.key)}
          onEdit={(part) => edit(index, part)}
          onRemove={() => remove(index)}
        />
      ))}
      <div className="without-script space-y-3">
        <MetaRow field={{ key: "", value: "" }} invalid={false} />
        <ApplyButton />
      </div>
      <Problems id="meta-problem" problems={wrong} version={form.version} />
      <AddButtons meta={meta} onAdd={add} />
    </FoldedSection>
  );
}

/** One button for each key with a meaning that is not used yet, and one for any other. */
function AddButtons({ meta, onAdd }: { meta: MetaField[]; onAdd: (key: string) => void }) {
  const { t } = useWords();
  const used = new Set(meta.map(({ key }) => metaName(key)));
  return (
    <fieldset className="needs-script">
      <legend className="eyebrow mb-1.5">{t("meta.add")}</legend>
      <div className="flex flex-wrap gap-2">
        {NAMES.filter((name) => !used.has(name)).map((name) => (
          <button
            key={name}
            type="button"
            className="button button-small"
            onClick={() => onAdd(keyText(META_NAMES[name]))}
          >
            {t(`meta.${name}`)} <span className="font-mono text-soft">{keyText(META_NAMES[name])}</span>
          </button>
        ))}
        <button type="button" className="button button-small" onClick={() => onAdd("")}>
          {t("meta.other")}
        </button>
      </div>
    </fieldset>
  );
}

interface RowProps {
  field: MetaField;
  invalid: boolean;
  /** Without it the row is for visitors without scripts. */
  onEdit?: (part: Partial<MetaField>) => void;
  onRemove?: () => void;
}

/** The key, what it means, and the way to take it out. */
function KeyLine({ field, invalid, onEdit, onRemove }: RowProps) {
  const { t } = useWords();
  const name = metaName(field.key);
  const key = onEdit ? { value: field.key } : { defaultValue: field.key };
  return (
    <div className="flex flex-wrap items-end gap-3">
      <label className="text-sm">
        <span className="mb-1 block font-medium">{t("meta.key")}</span>
        <input
          name="meta-key"
          className="input w-24 font-mono text-sm"
          {...key}
          placeholder="0xc"
          aria-invalid={invalid}
          aria-describedby="meta-problem"
          autoComplete="off"
          onChange={(event) => onEdit?.({ key: event.target.value })}
        />
      </label>
      <p className="min-w-0 flex-1 pb-2 text-sm">
        {name && <span className="font-medium">{t(`meta.${name}`)}. </span>}
        {name && <span className="text-soft">{t(`meta.${name}.hint`)}</span>}
      </p>
      {onRemove && (
        <button type="button" className="button button-small needs-script mb-1.5" onClick={onRemove}>
          {t("meta.remove")}
          <span className="sr-only"> {field.key}</span>
        </button>
      )}
    </div>
  );
}

function MetaRow(props: RowProps) {
  const { field, invalid, onEdit } = props;
  const { t } = useWords();
  const id = useId();
  const name = metaName(field.key);
  const value = onEdit ? { value: field.value } : { defaultValue: field.value };
  return (
    <div className="space-y-2 border-l-2 border-line pl-4">
      <KeyLine {...props} />
      <label htmlFor={id} className="sr-only">
        {t("meta.value", { key: field.key })}
      </label>
      <textarea
        id={id}
        name="meta-value"
        rows={name === "network" ? 5 : 2}
        className="input block font-mono text-sm"
        {...value}
        placeholder={(name && EXAMPLES[name]) ?? ""}
        aria-invalid={invalid}
        aria-describedby="meta-problem"
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => onEdit?.({ value: event.target.value })}
      />
      {mayBeSecret(field) && <p className="text-xs text-soft">{t("meta.secret")}</p>}
    </div>
  );
}
