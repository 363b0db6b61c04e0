/** The text of a schematic; an embedded machine configuration stays folded until somebody asks for it. */
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import type { Schematic } from "../../lib/domain/schematic-types.ts";
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";

export interface SchematicTextProps {
  words: Words;
  /** Canonical YAML. */
  canonical: string;
  schematic: Schematic;
  /** True: show the configuration too. */
  reveal: boolean;
  /** Address of this page with the configuration shown. */
  revealHref: string;
}

/** Lines of a text; one that ends in a line break has no line after it. */
const linesOf = (text: string): number => text.replace(/\n$/, "").split("\n").length;

/** The canonical text with words in place of the configuration. It has another ID and is for reading only. */
function foldedText({ customization, ...rest }: Schematic, lines: string): string {
  return canonicalSchematic({
    ...rest,
    customization: { ...customization, embeddedMachineConfiguration: lines },
  });
}

export function SchematicText({ words, canonical, schematic, reveal, revealHref }: SchematicTextProps) {
  const configuration = schematic.customization.embeddedMachineConfiguration;
  if (configuration === undefined || reveal)
    return <CodeLine caption="YAML" text={canonical.trimEnd()} block />;
  const lines = words.plural("result.secret", linesOf(configuration));
  return (
    <>
      <CodeLine caption="YAML" text={foldedText(schematic, lines).trimEnd()} block copyable={false} />
      <p className="max-w-prose text-sm text-soft">{words.t("result.secret.hint")}</p>
      <a className="button" href={revealHref} rel="nofollow">
        {words.t("result.secret.reveal")}
      </a>
    </>
  );
}
