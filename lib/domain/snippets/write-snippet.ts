/** The text of a snippet as it is shown and pasted: variables with their notes, then the rest. */
import type { SnippetNote, SnippetText, SnippetVariable } from "./types.ts";

const quoteShell = (value: string): string => (/^[\w./:@-]+$/.test(value) ? value : `'${value}'`);

/**
 * Notes stand on lines of their own: a shell that does not take comments while one types (zsh) complains about such a
 * line and goes on, but would run the rest of a line with an assignment as a command.
 */
function variableLines(text: SnippetText, say: (note: SnippetNote) => string): string[] {
  const note = (variable: SnippetVariable): string => `# ${say(variable.note)}`;
  switch (text.language) {
    case "sh":
      return text.variables.flatMap((one) => [note(one), `${one.name}=${quoteShell(one.value)}`]);
    case "powershell":
      return text.variables.flatMap((one) => [note(one), `$${one.name} = "${one.value}"`]);
    case "hcl": {
      const lines = text.variables.flatMap((one) => [`  ${note(one)}`, `  ${one.name} = "${one.value}"`]);
      return lines.length === 0 ? [] : ["locals {", ...lines, "}"];
    }
    case "ipxe":
    case "json":
      return [];
  }
}

/** `say` gives the sentence of a note. */
export function writeSnippet(text: SnippetText, say: (note: SnippetNote) => string): string {
  const variables = variableLines(text, say);
  return variables.length === 0 ? text.body : `${variables.join("\n")}\n\n${text.body}`;
}
