/** Own sources that a file declares: the file is right, and what it says is done again whenever it changes. */
import { readFile, stat } from "node:fs/promises";
import { parseDocument } from "yaml";
import { z } from "zod";
import { newBuildId } from "../db/build-id.ts";
import type { OwnSourceRepository } from "../db/own-source-repository.ts";
import {
  isRange,
  type OwnPin,
  type OwnSource,
  ownSourceInputSchema,
  requireRange,
} from "../domain/own-sources.ts";
import { type AppError, invalidInput } from "../errors/app-error.ts";
import { lookAtSource } from "./own-looking.ts";
import { adopted } from "./own-pins.ts";
import { newestOfficial, newSource, type OwnSourceServiceOptions, savePin } from "./own-sources.ts";

const LOOK_EVERY_MS = 2_000;
/** After a failure that the file may not be to blame for: a registry that is away, another process at work. */
const TRY_AGAIN_MS = 30_000;
const MOST_FILE_BYTES = 1024 * 1024;

/** `adopt` lists ranges that get the image of now, or the one with that digest. */
const adoptSchema = z.array(
  z.strictObject({
    talos: z.string().max(200).refine(isRange, "is no range of Talos versions").prefault(""),
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .exactOptional(),
  }),
);

/** One source of the file. */
const declarationSchema = z
  .looseObject({ adopt: adoptSchema.prefault([]) })
  .transform(({ adopt, ...rest }, context) => {
    const parsed = ownSourceInputSchema.safeParse(rest);
    if (parsed.success) return { input: parsed.data, adopt };
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  });

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
  const { service } = options;
  let seen = "";
  let tryAgainAt = 0;
  let running = false;
  const apply = async (mark: string) => {
    const declarations = parseDeclarations(await readLimited(options.file));
    const work = () => applyDeclarations(service, declarations, shutdown.signal);
    if (!(await service.rows.alone(work))) return;
    seen = mark;
    tryAgainAt = 0;
    options.onApplied(declarations.length);
  };
  let tried = "";
  const look = async () => {
    try {
      const { mtimeMs, size } = await stat(options.file);
      const mark = `${mtimeMs} ${size}`;
      if (mark === seen || (mark === tried && service.now() < tryAgainAt)) return;
      tried = mark;
      tryAgainAt = service.now() + TRY_AGAIN_MS;
      await apply(mark);
    } catch (error) {
      if (!shutdown.signal.aborted) options.onError(error);
    }
  };
  let current: Promise<void> = Promise.resolve();
  const start = () => {
    if (running) return;
    running = true;
    current = look().finally(() => {
      running = false;
    });
  };
  start();
  const timer = setInterval(start, LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      shutdown.abort();
      await current;
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
  const parsed = schema.safeParse(plainValue(document));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidInput(
      `The declared sources are wrong at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
    );
  }
  const keys = new Set<string>();
  for (const { input } of parsed.data.sources) {
    if (input.kind === "upload")
      throw invalidInput(`${input.namespace}/${input.name} is an upload, which cannot be declared`);
    if (keys.has(keyOf(input))) throw invalidInput(`${keyOf(input)} is declared twice`);
    keys.add(keyOf(input));
  }
  return parsed.data.sources;
}

function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidInput(`The declared sources are wrong: ${reason}`, { cause });
  }
}

const keyOf = ({ subject, namespace, name }: { subject: string; namespace: string; name?: string | null }) =>
  `${subject} ${namespace}/${name ?? "…"}`;

/**
 * Makes the declared sources what they are said to be, and forgets those that are not declared any more. A source that
 * cannot be had does not keep the others back; its failure is thrown at the end.
 */
export async function applyDeclarations(
  options: OwnSourceServiceOptions,
  declarations: readonly Declaration[],
  signal: AbortSignal,
): Promise<void> {
  const { rows } = options;
  const sources = await rows.sources();
  const wanted = new Set(declarations.map(({ input }) => keyOf(input)));
  const taken = sources.find((source) => !source.declared && wanted.has(keyOf(source)));
  if (taken !== undefined) throw addedByHand(taken);
  const failures: unknown[] = [];
  for (const source of sources)
    if (source.declared && !wanted.has(keyOf(source))) await rows.removeSource(source.id);
  for (const { input, adopt } of declarations) {
    try {
      const source = await ensureDeclared(rows, newSource(options, input, true));
      for (const pin of await lookAtSource(options, source, signal)) await rows.savePin(pin);
      await adoptDeclared(options, source, adopt);
    } catch (error) {
      failures.push(error);
    }
  }
  options.onChange();
  if (failures.length > 0) throw failures[0];
}

const addedByHand = (source: OwnSource): AppError =>
  invalidInput(`${keyOf(source)} is declared, but somebody added a source of that name by hand`, {
    hint: "Delete that one, or take it out of the file.",
  });

async function ensureDeclared(rows: OwnSourceRepository, wanted: OwnSource): Promise<OwnSource> {
  const known = (await rows.sources()).find((source) => keyOf(source) === keyOf(wanted));
  if (known === undefined) {
    await rows.addSource(wanted);
    return wanted;
  }
  if (!known.declared) throw addedByHand(known);
  const changed = { ...wanted, id: known.id };
  await rows.changeSource(changed);
  return changed;
}

const placeOf = ({ name, talos }: OwnPin): string => `${name} ${talos}`;

/** A range that has an image keeps it unless the file names another digest: nothing moves without being told. */
async function adoptDeclared(
  options: OwnSourceServiceOptions,
  source: OwnSource,
  adopt: Declaration["adopt"],
): Promise<void> {
  const { rows, now } = options;
  const releases = await newestOfficial(options);
  if (source.kind === "catalog") {
    // Its images are for one release each; the ranges that are written only say that they are wanted.
    if (adopt.length === 0) return;
    const pins = await rows.pins({ sourceId: source.id });
    const holds = new Set(pins.filter(({ state }) => state === "adopted").map(placeOf));
    for (const pin of pins.filter((one) => one.state === "offered" && !holds.has(placeOf(one))))
      await savePin(options, adopted(pin, { acceptWarnings: true }, releases, new Date(now())));
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
    await savePin(options, offer.state === "offered" ? pin : { ...pin, id: newBuildId(now()) });
  }
}
