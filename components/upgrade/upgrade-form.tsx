/** Which schematic, what runs now, where to: a form over the address. */
import type { MachineTarget } from "../../lib/domain/machine-target.ts";
import { MachineFields } from "../compare/machine-fields.tsx";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  /** As written. */
  id: string;
  wrong: boolean;
  /** Tags; empty for none. */
  from: string;
  to: string;
  /** Newest first. */
  versions: string[];
  target: MachineTarget;
}

export function UpgradeForm({ words, id, wrong, from, to, versions, target }: Props) {
  const { t } = words;
  const options = versions.map((version) => (
    <option key={version} value={version}>
      {version}
    </option>
  ));
  return (
    <form method="get" action="/upgrade" className="space-y-4">
      <div>
        <label className="eyebrow" htmlFor="upgrade-id">
          {t("schematic")}
        </label>
        <input
          id="upgrade-id"
          name="id"
          className="input mt-1 font-mono text-xs"
          defaultValue={id}
          required
          autoComplete="off"
          spellCheck={false}
          aria-invalid={wrong || undefined}
          aria-describedby="upgrade-id-hint"
        />
        <p id="upgrade-id-hint" className={`mt-1 text-sm ${wrong ? "text-bad" : "text-soft"}`}>
          {t(wrong ? "upgrade.wrong" : "upgrade.id.hint")}
        </p>
      </div>
      <div className="flex flex-wrap items-end gap-4">
        <label>
          <span className="eyebrow">{t("upgrade.from")}</span>
          <select name="from" className="input mt-1" defaultValue={from}>
            <option value="">{t("upgrade.from.none")}</option>
            {options}
          </select>
        </label>
        <label>
          <span className="eyebrow">{t("upgrade.to")}</span>
          <select name="to" className="input mt-1" defaultValue={to}>
            {options}
          </select>
        </label>
        <MachineFields words={words} target={target} />
        <button type="submit" className="button button-primary min-h-10">
          {t("upgrade.check")}
        </button>
      </div>
    </form>
  );
}
