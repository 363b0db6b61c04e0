/** `casthouse extension new|check|pack|push`: from an empty folder to an extension that a factory offers. */
import { invalidInput } from "../lib/errors/app-error.ts";
import type { CommandIo } from "./command-io.ts";
import { checkCommand } from "./extension-check.ts";
import { newCommand } from "./extension-new.ts";
import { packCommand } from "./extension-pack.ts";
import { pushCommand } from "./extension-push.ts";

/** What the subcommands take. */
export const EXTENSION_USAGE = `casthouse extension new <folder> [--service] [--name <name>] [--arch amd64|arm64]
casthouse extension check <folder|archive> [--arch amd64|arm64] [--talos <version>] [--kernel <release>] [--json]
casthouse extension pack <folder|archive> [--output <file>] [--arch amd64|arm64]
casthouse extension push <folder|archive> --to <factory> --name <namespace>/<name> [--talos <range>] [--arch amd64|arm64]
                         [--token-file <file>] [--accept-warnings] [--override]
`;

/** Runs the subcommand that the first argument names. */
export async function extensionCommand(args: string[], io: CommandIo): Promise<void> {
  const [subcommand, ...rest] = args;
  switch (subcommand) {
    case "new":
      return newCommand(rest, io);
    case "check":
      return checkCommand(rest, io);
    case "pack":
      return packCommand(rest, io);
    case "push":
      return pushCommand(rest, io);
    default:
      throw invalidInput(
        subcommand === undefined
          ? "casthouse extension needs a subcommand"
          : `casthouse extension knows no ${subcommand}`,
        { hint: EXTENSION_USAGE },
      );
  }
}
