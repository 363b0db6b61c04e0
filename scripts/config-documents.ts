/** Writes docs/config.md and .env.example from the schema of the configuration (`npm run gen`). */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { GROUPS } from "../lib/config/leaf.ts";
import { requireMeta, SETTING_NAMES } from "../lib/config/schema.ts";

const settings = SETTING_NAMES.map((name) => ({ name, ...requireMeta(name) }));
const groups = Object.entries(GROUPS).map(([key, title]) => ({
  title,
  entries: settings.filter((setting) => setting.group === key),
}));

/** docs/config.md */
export function renderConfigPage(): string {
  const lines = [
    "# Configuration",
    "",
    "<!-- Written by `npm run gen` from lib/config/schema.ts; change it there. -->",
    "",
    "Everything is set with environment variables, and all are optional for `npm start`. A variable that is set to nothing",
    "counts as not set. Names marked with * are secrets: they are never logged and may come from a file, whose path is given",
    "as `NAME_FILE`. Durations are written like `90s`, `15m` or `1h30m`.",
    "",
    "All problems are reported at once with the name of the variable, and the process ends with exit code 78.",
  ];
  for (const { title, entries } of groups) {
    lines.push("", `## ${title}`, "", "| name | default | meaning |", "| --- | --- | --- |");
    for (const entry of entries) {
      const note = entry.planned ? " Known, but nothing uses it yet: setting it gives a warning." : "";
      lines.push(
        `| \`${entry.name}\`${entry.secret ? " *" : ""} | ${inCell(entry.default)} | ${entry.description}${note} |`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Patterns stand as code, or Markdown would take their marks for its own. */
function inCell(text: string): string {
  return /[\\|*]/.test(text) ? `\`${text.replaceAll("|", "\\|")}\`` : text;
}

/** .env.example: every name, commented out, with its default. */
export function renderEnvExample(): string {
  const lines = [
    "# Written by `npm run gen` from lib/config/schema.ts; docs/config.md says more. Uncomment what you need.",
  ];
  for (const { title, entries } of groups) {
    lines.push("", `# ---- ${title}`);
    for (const entry of entries) {
      lines.push(
        `# ${entry.description}${entry.planned ? " (not used yet)" : ""} Default: ${entry.default}.`,
        `#${entry.name}=`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync("docs/config.md", renderConfigPage());
  writeFileSync(".env.example", renderEnvExample());
}
