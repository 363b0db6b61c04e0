/** The schematic itself, and how to store it at a factory. */
import { CodeLine } from "../ui/code-line.tsx";
import { ResultPart } from "./result-part.tsx";
import { SchematicText, type SchematicTextProps } from "./schematic-text.tsx";

interface Props extends SchematicTextProps {
  /** Of the factory. */
  publicUrl: string;
}

export function SchematicSection({ publicUrl, ...text }: Props) {
  const { t } = text.words;
  return (
    <ResultPart id="schematic" title={t("schematic")} className="no-print space-y-3">
      <p className="max-w-prose text-sm text-soft">{t("result.schematic.hint")}</p>
      <SchematicText {...text} />
      <CodeLine
        caption={t("result.store")}
        text={`curl -X POST --data-binary @schematic.yaml ${publicUrl}/schematics`}
      />
    </ResultPart>
  );
}
