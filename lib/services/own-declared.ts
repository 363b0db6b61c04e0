/** Own sources that a file declares: the file is right, and what it says is done again whenever it changes. */
import { readFile, stat } from "node:fs/promises";
import { parseDocument } from "yaml";
import { z } from "zod";
import { newBuildId } from "../db/build-id.ts";
import type { OwnSourceRepository } from "../db/own-source-repository.ts";
import { type OwnSource, ownSourceInputSchema, requireRange } from "../domain/own-sources.ts";
import { invalidInput } from "../errors/app-error.ts";
import { lookAtSource } from "./own-looking.ts";
import { adopted } from "./own-pins.ts";
import { newSource, type OwnSourceServiceOptions } from "./own-sources.ts";

const LOOK_EVERY_MS = 30_000;
const MOST_FILE_BYTES = 1024 * 1024;

/** One source of the file. `adopt` lists ranges that get the image of now, or the one with that digest. */
const declarationSchema = ownSourceInputSchema.and(
  z.object({
    adopt: z
      .array(z.strictObject({ talos: z.string().prefault(""), digest: z.string().exactOptional() }))
      .prefault([]),
  }),
);

type Declaration = z.output<typeof declarationSchema>;

export interface DeclaredOptions {
  file: string;
  service: OwnSourceServiceOptions;
  onApplied: (count: number) => void;
  onError: (error: unknown) => void;
}

/** Reads the file now and whenever it changes, until closed. A file that is wrong changes nothing and is reported. */
export function followDeclarations(options: DeclaredOptions): { close(): Promise<void> } {
  const shutdown = new AbortController();
  let seen = "";
  let running: Promise<void> = Promise.resolve();
  const look = async () => {
    try {
      const { mtimeMs, size } = await stat(options.file);
      if (`${mtimeMs} ${size}` === seen) return;
      const declarations = parseDeclarations(await readLimited(options.file));
      await applyDeclarations(options.service, declarations, shutdown.signal);
      seen = `${mtimeMs} ${size}`;
      options.onApplied(declarations.length);
    } catch (error) {
      if (!shutdown.signal.aborted) options.onError(error);
    }
  };
  running = look();
  const timer = setInterval(() => {
    running = running.then(look);
  }, LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      shutdown.abort();
      await running;
    },
  };
}

async function readLimited(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MOST_FILE_BYTES) throw invalidInput(`${file} is larger than ${MOST_FILE_BYTES} bytes`);
  return readFile(file, "utf8");
}

/** The sources that a text declares. invalid_input naming the place of what is wrong. */
export function parseDeclarations(text: string): Declaration[] {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw invalidInput(`The declared sources are not YAML: ${error.message.split("\n")[0]}`);
  const schema = z.strictObject({ sources: z.array(declarationSchema).max(1_000) });
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 0 }) ?? { sources: [] });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidInput(
      `The declared sources are wrong at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
    );
  }
  const uploads = parsed.data.sources.find((source) => source.kind === "upload");
  if (uploads)
    throw invalidInput(`${uploads.namespace}/${uploads.name} is an upload, which cannot be declared`);
  return parsed.data.sources;
}

const keyOf = ({ subject, namespace, name }: { subject: string; namespace: string; name?: string | null }) =>
  [subject, namespace, name ?? ""].join(" ");

/** Makes the declared sources what they are said to be, and forgets those that are not declared any more. */
export async function applyDeclarations(
  options: OwnSourceServiceOptions,
  declarations: readonly Declaration[],
  signal: AbortSignal,
): Promise<void> {
  const { rows } = options;
  const wanted = new Set(declarations.map(keyOf));
  for (const source of await rows.sources())
    if (source.declared && !wanted.has(keyOf(source))) await rows.removeSource(source.id);
  for (const { adopt, ...input } of declarations) {
    const source = await ensureDeclared(rows, newSource(options, input, true));
    for (const pin of await lookAtSource(options, source, signal)) await rows.savePin(pin);
    await adoptDeclared(options, source, adopt);
  }
  options.onChange();
}

async function ensureDeclared(rows: OwnSourceRepository, wanted: OwnSource): Promise<OwnSource> {
  const known = (await rows.sources()).find((source) => keyOf(source) === keyOf(wanted));
  if (known === undefined) {
    await rows.addSource(wanted);
    return wanted;
  }
  if (!known.declared)
    throw invalidInput(`${keyOf(wanted)} is declared, but somebody added a source of that name by hand`, {
      hint: "Delete that one, or take it out of the file.",
    });
  const changed = { ...wanted, id: known.id };
  await rows.changeSource(changed);
  return changed;
}

/** A range that has an image keeps it unless the file names another digest: nothing moves without being told. */
async function adoptDeclared(
  options: OwnSourceServiceOptions,
  source: OwnSource,
  adopt: Declaration["adopt"],
): Promise<void> {
  const { rows, official, now } = options;
  const releases = await Promise.all(
    (await official.versions()).slice(-1).map((one) => official.require(one)),
  );
  if (source.kind === "catalog") {
    // Its images are for one release each; the ranges that are written only say that they are wanted.
    const offered = adopt.length === 0 ? [] : await rows.pins({ sourceId: source.id, state: "offered" });
    for (const pin of offered)
      await rows.savePin(adopted(pin, { acceptWarnings: true }, releases, new Date(now())));
    return;
  }
  for (const { talos: written, digest } of adopt) {
    const talos = requireRange(written);
    const pins = await rows.pins({ sourceId: source.id });
    const holds = pins.some(
      (pin) =>
        pin.state === "adopted" && pin.talos === talos && (digest === undefined || pin.digest === digest),
    );
    const offer = pins.find(
      (pin) => pin.state !== "retired" && (digest === undefined || pin.digest === digest),
    );
    if (holds || offer === undefined) continue;
    const pin = adopted(offer, { talos, acceptWarnings: true }, releases, new Date(now()));
    // One image may serve several ranges, each by a pin of its own.
    await rows.savePin(offer.state === "offered" ? pin : { ...pin, id: newBuildId(now()) });
  }
}
