/** The schematic that fits: what changes in it, its ID, and the button that stores it. */
import type { DiffItem } from "../../lib/domain/list-diff.ts";
import type { UpgradeReport } from "../../lib/services/catalog/contracts.ts";
import { LineDiff } from "../compare/diff-view.tsx";
import { CodeLine } from "../ui/code-line.tsx";
import { IdMark } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  report: UpgradeReport;
  /** Lines of the text, machine configurations left out. */
  text: DiffItem<string>[];
  /** Everything the check was asked with, for the form. */
  fields: [name: string, value: string][];
  /** Address of the files of the schematic as it is. */
  filesHref: string;
  /** The lines for the terminal, when the ID exists already. */
  command: string;
}

export function MigratedSchematic({ words, report, text, fields, filesHref, command }: Props) {
  const { t } = words;
  const { check } = report;
  const { migrated, ready } = check;
  if (migrated.unchanged) {
    return ready ? (
      <>
        <CodeLine caption={t("upgrade.command")} text={command} block />
        <a href={filesHref} className="button button-primary">
          {t("upgrade.files")}
        </a>
      </>
    ) : (
      <p className="text-soft">{t("upgrade.nothing-to-create")}</p>
    );
  }
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 text-sm text-soft">
        {t("upgrade.new-id")} <IdMark id={migrated.id} />
      </p>
      <LineDiff words={words} items={text} />
      {ready ? (
        <form method="post" action="/upgrade/create" className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {fields.map(([name, value]) => (
            <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
          ))}
          <button type="submit" className="button button-primary">
            {t("upgrade.create")}
          </button>
          <span className="text-sm text-soft">{t("upgrade.create.hint")}</span>
        </form>
      ) : (
        <p className="text-soft">{t("upgrade.not-yet")}</p>
      )}
    </>
  );
}
