/** `casthouse extension pack <folder>`: makes the archive that a factory takes, the same bytes from the same files. */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AppError, invalidInput } from "../lib/errors/app-error.ts";
import { packExtension } from "../lib/imager/extension/pack.ts";
import type { CommandIo } from "./command-io.ts";
import { deliverFile } from "./deliver.ts";
import { refuseErrors, reportLines } from "./extension-report.ts";
import { archOf, type CheckedExtension, checkOpened, withExtension } from "./extension-source.ts";
import { readArguments } from "./flags.ts";

const OPTIONS = { output: { type: "string" }, arch: { type: "string" } } as const;

/** Writes the file's name and digest to standard output. One with errors is not packed. */
export async function packCommand(args: string[], io: CommandIo): Promise<void> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [named, ...rest] = positionals;
  if (named === undefined || rest.length > 0)
    throw invalidInput("casthouse extension pack takes one folder or archive");
  await withExtension(named, io.signal, async (opened) => {
    const checked = await checkOpened(opened, archOf(values.arch), null, io.signal);
    for (const line of reportLines(checked.reports)) io.tell(line);
    refuseErrors(named, checked.reports);
    const packed = await packExtension(opened.tree, join(opened.scratch, "layer.tar.gz"), io.signal);
    const target = resolve(values.output ?? fileName(checked));
    const file = await deliverFile(packed.file, dirname(target), target.slice(dirname(target).length + 1));
    io.out.write(`${file} ${packed.digest}\n`);
  });
}

/** "chaos-daemon-1.0.0-amd64.tar.gz"; without the architecture when it fits every machine. */
function fileName({ platforms, reports }: CheckedExtension): string {
  const metadata = reports[0]?.metadata;
  if (!metadata) throw new AppError("internal", "an extension without manifest was not refused");
  const [arch, ...more] = platforms;
  const version = metadata.version.replace(/[^A-Za-z0-9._+-]/g, "-");
  return `${[metadata.name, version, ...(more.length === 0 && arch !== undefined ? [arch] : [])].join("-")}.tar.gz`;
}
