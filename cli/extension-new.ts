/** `casthouse extension new <folder>`: writes an extension to start from. */
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { requireOwnName } from "../lib/domain/own-sources.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { starterFiles } from "../lib/imager/extension/starter.ts";
import type { CommandIo } from "./command-io.ts";
import { archOf } from "./extension-source.ts";
import { readArguments } from "./flags.ts";

const OPTIONS = {
  name: { type: "string" },
  namespace: { type: "string" },
  service: { type: "boolean" },
  arch: { type: "string" },
} as const;

/** The folder is made; one with something in it is refused. */
export async function newCommand(args: string[], io: CommandIo): Promise<void> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [folder, ...rest] = positionals;
  if (folder === undefined || rest.length > 0)
    throw invalidInput("casthouse extension new takes one folder, which is made");
  const dir = resolve(folder);
  const name = values.name ?? basename(dir);
  const namespace = values.namespace ?? "team";
  const full = requireOwnName(namespace, name);
  const arch = archOf(values.arch) ?? "amd64";
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length > 0)
    throw invalidInput(`${folder} is not empty`, { hint: "Name a folder that is not there yet." });
  for (const { path, content, mode } of starterFiles({ name, service: values.service === true, arch })) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await chmod(file, mode);
    io.tell(`wrote ${join(folder, path)}`);
  }
  io.tell(`next: casthouse extension check ${folder}`);
  io.tell(`then: casthouse extension push ${folder} --to <factory> --name ${full}`);
}
