#!/usr/bin/env node
/** The command `casthouse`: the imager and what helps to understand it, without database, queue or server. */
import { text } from "node:stream/consumers";
import { profileNames } from "../lib/domain/imager-profile/built-in.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { buildCommand } from "./build-command.ts";
import type { CommandIo } from "./command-io.ts";
import { describeError, exitCodeOf } from "./exit-codes.ts";
import { EXTENSION_USAGE, extensionCommand } from "./extension-command.ts";
import { idCommand } from "./id-command.ts";
import { imagerCommand } from "./imager-command.ts";
import { planCommand } from "./plan-command.ts";

const USAGE = `casthouse imager <profile>|-                make one file; - reads a profile from standard input
casthouse plan <id|schematic.yaml> <version> <file>  show how the service would make a file
casthouse build --lock <lock.json> <file>        make a file from the inputs that a lock pins
casthouse id <schematic.yaml>|-                  the ID of a schematic

${EXTENSION_USAGE}
Profiles: ${profileNames().join(", ")}
Flags and exit codes: docs/cli.md; extensions: docs/own-extensions.md
`;

async function runCommand(args: string[], io: CommandIo): Promise<void> {
  const [command, ...rest] = args;
  switch (command) {
    case "imager": {
      const file = await imagerCommand(rest, io);
      if (file !== null) io.tell(`made ${file}`);
      return;
    }
    case "build":
      io.tell(`made ${await buildCommand(rest, io)}`);
      return;
    case "plan":
      return planCommand(rest, io);
    case "id":
      return idCommand(rest, io);
    case "extension":
      return extensionCommand(rest, io);
    case "help":
    case "--help":
    case "-h":
      io.out.write(USAGE);
      return;
    default:
      throw invalidInput(command === undefined ? "no command" : `no command is called ${command}`, {
        hint: USAGE,
      });
  }
}

async function main(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const io: CommandIo = {
    out: process.stdout,
    tell: (line) => process.stderr.write(`${line}\n`),
    readInput: () => text(process.stdin),
    signal: stop.signal,
  };
  try {
    await runCommand(process.argv.slice(2), io);
  } catch (error) {
    io.tell(describeError(error));
    process.exitCode = exitCodeOf(error);
  }
}

await main();
