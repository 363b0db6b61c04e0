/** `casthouse extension check <folder|archive>`: says what is wrong with an extension. */
import { parseArgs } from "node:util";
import { parseVersionLeniently } from "../lib/domain/versions.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import type { CheckedRelease } from "../lib/imager/extension/types.ts";
import type { CommandIo } from "./command-io.ts";
import { refuseErrors, reportLines } from "./extension-report.ts";
import { archOf, checkOpened, withExtension } from "./extension-source.ts";
import { readArguments } from "./flags.ts";

const OPTIONS = {
  arch: { type: "string" },
  talos: { type: "string" },
  kernel: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Writes the report to standard output; with errors the command ends as for wrong input. */
export async function checkCommand(args: string[], io: CommandIo): Promise<void> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [named, ...rest] = positionals;
  if (named === undefined || rest.length > 0)
    throw invalidInput("casthouse extension check takes one folder or archive");
  const release = releaseOf(values.talos, values.kernel);
  const reports = await withExtension(named, io.signal, async (opened) => {
    return (await checkOpened(opened, archOf(values.arch), release, io.signal)).reports;
  });
  const text = values.json === true ? JSON.stringify(reports, null, 2) : reportLines(reports).join("\n");
  io.out.write(`${text}\n`);
  refuseErrors(named, reports);
}

function releaseOf(talos: string | undefined, kernel: string | undefined): CheckedRelease | null {
  if (talos === undefined && kernel !== undefined)
    throw invalidInput("--kernel says which kernel a release has; name the release with --talos");
  if (talos === undefined) return null;
  if (parseVersionLeniently(talos) === null)
    throw invalidInput(`--talos ${talos} is not a version`, { hint: "For example --talos v1.13.2." });
  return { version: `v${talos.replace(/^v/, "")}`, kernel: kernel ?? null };
}
