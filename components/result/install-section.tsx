/** The installer image of a choice, and the command that moves a node to it. */
import { installerReference, registryHost, upgradeCommand } from "../../lib/domain/snippets/addresses.ts";
import type { SnippetContext } from "../../lib/domain/snippets/types.ts";
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";
import { ResultPart } from "./result-part.tsx";

interface Props {
  words: Words;
  context: SnippetContext;
}

export function InstallSection({ words, context }: Props) {
  const { t } = words;
  const reference = installerReference(context);
  return (
    <ResultPart id="install" title={t("result.install")}>
      <p className="max-w-prose text-sm text-soft">{t("result.installer.hint")}</p>
      <CodeLine caption={t("result.installer")} text={reference} />
      <CodeLine
        caption={t("result.upgrade")}
        text={`# ${t("snippet.note.node")}\nNODE=10.0.0.2\n${upgradeCommand(reference)}`}
        block
      />
      {context.publicUrl.startsWith("http://") && (
        <p className="max-w-prose text-sm text-soft">
          {t("result.installer.http", { host: registryHost(context.publicUrl) })}
        </p>
      )}
    </ResultPart>
  );
}
