/** Presets as rows: name, machine, labels that filter, and what can be done with each. */
import { labelText, type Preset, presetQuery } from "../../lib/domain/preset.ts";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

const machineText = ({ target }: Preset): string =>
  [target.version, target.platform, target.arch, target.secureboot === true ? "SecureBoot" : undefined]
    .filter((part) => part !== undefined)
    .join(" · ");

/** Address of the schematic's files for the machine of the preset. */
const filesHref = (preset: Preset): string => {
  const query = presetQuery(preset).toString();
  return `/schematics/${preset.schematicId}${query === "" ? "" : `?${query}`}`;
};

/** Address of the form, filled in with the preset. */
const editHref = (preset: Preset): string =>
  `/open?${new URLSearchParams([["what", preset.schematicId], ...presetQuery(preset)])}`;

function Labels({ preset }: { preset: Preset }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {Object.entries(preset.labels).map(([name, value]) => {
        const text = labelText({ [name]: value });
        return (
          <li key={name}>
            <a href={`/presets?${new URLSearchParams({ label: text })}`} className="button button-small">
              {text}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Row({ words, preset }: { words: Words; preset: Preset }) {
  const { t } = words;
  const name = <span className="sr-only"> {preset.name}</span>;
  return (
    <li className="grid gap-x-6 gap-y-3 border-t border-line py-4 md:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0 space-y-1.5">
        <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
          <a href={filesHref(preset)} className="link break-words text-base font-semibold">
            {preset.name}
          </a>
          <IdMark id={preset.schematicId} />
        </p>
        <p className="text-sm text-soft">{machineText(preset)}</p>
        <Labels preset={preset} />
      </div>
      <div className="flex flex-wrap items-start gap-2">
        <a href={editHref(preset)} className="button button-small">
          {t("preset.open")}
          {name}
        </a>
        <form method="post" action={`/presets/${preset.id}/copy`}>
          <button type="submit" className="button button-small">
            {t("preset.copy")}
            {name}
          </button>
        </form>
        <a href={`/api/v1/presets/${preset.id}/export`} className="button button-small" download>
          {t("preset.export")}
          {name}
        </a>
        <a href={`/presets/${preset.id}`} className="button button-small">
          {t("preset.edit")}
          {name}
        </a>
      </div>
    </li>
  );
}

export function PresetTable({ words, presets }: { words: Words; presets: Preset[] }) {
  return (
    <ul>
      {presets.map((preset) => (
        <Row key={preset.id} words={words} preset={preset} />
      ))}
    </ul>
  );
}
