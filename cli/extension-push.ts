/** `casthouse extension push <folder|archive>`: sends an extension to a factory, which checks it once more. */
import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import type { Arch } from "../lib/domain/asset.ts";
import { requireOwnName, requireRange } from "../lib/domain/own-sources.ts";
import { AppError, type ErrorCode, invalidInput, STATUS } from "../lib/errors/app-error.ts";
import { packExtension } from "../lib/imager/extension/pack.ts";
import type { PackedLayer } from "../lib/imager/extension/types.ts";
import type { CommandIo } from "./command-io.ts";
import { refuseErrors, reportLines } from "./extension-report.ts";
import { archOf, checkOpened, withExtension } from "./extension-source.ts";
import { readArguments } from "./flags.ts";

const OPTIONS = {
  to: { type: "string" },
  name: { type: "string" },
  talos: { type: "string" },
  arch: { type: "string" },
  "token-file": { type: "string" },
  "accept-warnings": { type: "boolean" },
  override: { type: "boolean" },
} as const;

const pinSchema = z.object({
  name: z.string(),
  digest: z.string(),
  talos: z.string(),
  state: z.string(),
  warnings: z.number(),
});
const problemSchema = z.object({
  detail: z.string(),
  code: z.string().optional(),
  hint: z.string().optional(),
});

/** Checks and packs here, so that nothing is sent in vain; writes name and digest to standard output. */
export async function pushCommand(args: string[], io: CommandIo): Promise<void> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [named, ...rest] = positionals;
  if (named === undefined || rest.length > 0)
    throw invalidInput("casthouse extension push takes one folder or archive");
  const asked = archOf(values.arch);
  const address = addressOf(values, asked);
  const token = values["token-file"] === undefined ? null : await readToken(values["token-file"]);
  await withExtension(named, io.signal, async (opened) => {
    const { reports } = await checkOpened(opened, asked, null, io.signal);
    for (const line of reportLines(reports)) io.tell(line);
    refuseErrors(named, reports);
    const packed = await packExtension(opened.tree, join(opened.scratch, "layer.tar.gz"), io.signal);
    const pin = await send(address, packed, token, io.signal);
    const range = pin.talos === "" ? "every release" : pin.talos;
    io.tell(
      pin.state === "adopted"
        ? `adopted: images for ${range} that name ${pin.name} have it from now on`
        : `on offer with ${pin.warnings} warnings: read and adopt it on ${new URL("/extensions", address)}, or send it with --accept-warnings`,
    );
    io.out.write(`${pin.name} ${pin.digest}\n`);
  });
}

async function readToken(file: string): Promise<string> {
  const token = (await readFile(file, "utf8")).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw invalidInput(`${file} does not hold a token`, {
    hint: "It is one word, the ADMIN_TOKEN of the factory.",
  });
}

interface PushFlags {
  to?: string | undefined;
  name?: string | undefined;
  talos?: string | undefined;
  "accept-warnings"?: boolean | undefined;
  override?: boolean | undefined;
}

function addressOf(flags: PushFlags, arch: Arch | undefined): URL {
  const { to = "", name = "", talos } = flags;
  if (!/^https?:\/\/[^/]/.test(to) || !URL.canParse(to))
    throw invalidInput("casthouse extension push needs --to with the address of a factory", {
      hint: "For example --to https://factory.example.com.",
    });
  const [namespace = "", short = "", ...more] = name.split("/");
  if (short === "" || more.length > 0)
    throw invalidInput("casthouse extension push needs --name <namespace>/<name>", {
      hint: "For example --name team/chaos-daemon.",
    });
  requireOwnName(namespace, short);
  const address = new URL(`${to.replace(/\/+$/, "")}/api/v1/extensions/${namespace}/${short}`);
  if (talos !== undefined) address.searchParams.set("talos", requireRange(talos));
  if (arch !== undefined) address.searchParams.set("arch", arch);
  if (flags["accept-warnings"] === true) address.searchParams.set("accept-warnings", "true");
  if (flags.override === true) address.searchParams.set("override", "true");
  return address;
}

async function send(
  address: URL,
  packed: PackedLayer,
  token: string | null,
  signal: AbortSignal,
): Promise<z.output<typeof pinSchema>> {
  const response = await fetch(address, {
    method: "PUT",
    body: await openAsBlob(packed.file, { type: "application/gzip" }),
    redirect: "error",
    signal,
    headers: token === null ? {} : { Authorization: `Bearer ${token}` },
  }).catch((cause: unknown) => {
    throw new AppError(
      "upstream_unavailable",
      `${address.host} cannot be reached, or closed the connection`,
      {
        hint: "Check the address, and whether the archive is larger than the factory takes.",
        cause,
      },
    );
  });
  const text = await response.text();
  const pin = response.status === 201 ? pinSchema.safeParse(parseJson(text)) : null;
  if (pin?.success === true) return pin.data;
  const problem = problemSchema.safeParse(parseJson(text));
  if (!problem.success)
    throw new AppError(
      "upstream_unavailable",
      `${address.host} answered ${response.status}, not as a factory does`,
    );
  const { detail, code, hint } = problem.data;
  const known = codeOf(code);
  throw new AppError(known, `${address.host} refuses it: ${detail}`, hint === undefined ? {} : { hint });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(STATUS, code);
const codeOf = (code: string | undefined): ErrorCode =>
  code !== undefined && isCode(code) ? code : "upstream_unavailable";
