/** Own sources that a file declares: the file is right, and what it says is done again whenever it changes. */
import { parseDocument } from "yaml";
import { z } from "zod";
import { newBuildId } from "../../db/build-id.ts";
import type { OwnSourceRepository } from "../../db/own-source-repository.ts";
import { digestSchema } from "../../domain/digest-schemas.ts";
import {
  isRange,
  type OwnPin,
  type OwnSource,
  ownSourceInputSchema,
  requireRange,
} from "../../domain/own-sources.ts";
import { type AppError, invalidInput, notFound } from "../../errors/app-error.ts";
import { lookAtSource } from "./looking.ts";
import { adopted } from "./pins.ts";
import { newestOfficial, newSource, type OwnSourceServiceOptions, takeIntoUse } from "./sources.ts";

/** `adopt` lists ranges that get the image of now, or the one with that digest. */
const adoptSchema = z.array(
  z.strictObject({
    talos: z.string().max(200).refine(isRange, "is no range of Talos versions").prefault(""),
    digest: digestSchema.exactOptional(),
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

export type Declaration = z.output<typeof declarationSchema>;

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
  for (const { input, adopt } of parsed.data.sources) {
    if (input.kind === "upload")
      throw invalidInput(`${input.namespace}/${input.name} is an upload, which cannot be declared`);
    if (input.kind === "catalog" && adopt.some(({ digest }) => digest !== undefined))
      throw invalidInput(
        `${keyOf(input)} is a catalog, which names its digests itself: adopt has none there`,
      );
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

/** What is done of the declarations; a failure does not keep the others back. */
export interface Applied {
  done: Declaration[];
  failures: unknown[];
}

/** Makes the declared sources what they are said to be, and forgets those that are not declared any more. */
export async function applyDeclarations(
  options: OwnSourceServiceOptions,
  declarations: readonly Declaration[],
  signal: AbortSignal,
  /** Applied already, and unchanged since. */
  done: readonly Declaration[] = [],
): Promise<Applied> {
  const { rows } = options;
  const sources = await rows.sources();
  const wanted = new Set(declarations.map(({ input }) => keyOf(input)));
  const taken = sources.find((source) => !source.declared && wanted.has(keyOf(source)));
  if (taken !== undefined) throw addedByHand(taken);
  for (const source of sources)
    if (source.declared && !wanted.has(keyOf(source))) await rows.removeSource(source.id);
  const applied: Applied = { done: [...done], failures: [] };
  for (const declaration of declarations) {
    if (done.includes(declaration)) continue;
    try {
      await applyOne(options, declaration, signal);
      applied.done.push(declaration);
    } catch (error) {
      applied.failures.push(error);
    }
  }
  options.onChange();
  return applied;
}

async function applyOne(
  options: OwnSourceServiceOptions,
  { input, adopt }: Declaration,
  signal: AbortSignal,
): Promise<void> {
  const source = await ensureDeclared(options.rows, newSource(options, input, true));
  const bring = async (digest: string | null) => {
    const pins = await lookAtSource(options, source, signal, digest);
    if (!(await options.rows.addPins(pins))) throw addedByHand(source);
  };
  // What the file names by digest is fetched by digest, whatever a tag means by now.
  const digests = new Set(adopt.map(({ digest }) => digest ?? null));
  for (const digest of digests.size === 0 ? [null] : digests) await bring(digest);
  await adoptDeclared(options, source, adopt);
}

const addedByHand = (source: OwnSource): AppError =>
  invalidInput(`${keyOf(source)} is declared, but somebody added a source of that name by hand`, {
    hint: "Delete that one, or take it out of the file.",
  });

async function ensureDeclared(rows: OwnSourceRepository, wanted: OwnSource): Promise<OwnSource> {
  const known = (await rows.sources()).find((source) => keyOf(source) === keyOf(wanted));
  if (known === undefined) {
    if (await rows.addSource(wanted, [])) return wanted;
    throw addedByHand(wanted);
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
      await takeIntoUse(options, adopted(pin, { acceptWarnings: true }, releases, new Date(now())));
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
    if (holds) continue;
    if (offer === undefined) throw nothingToAdopt(source, digest);
    const pin = adopted(offer, { talos, acceptWarnings: true }, releases, new Date(now()));
    // One image may serve several ranges, each by a pin of its own.
    await takeIntoUse(options, offer.state === "offered" ? pin : { ...pin, id: newBuildId(now()) });
  }
}

const nothingToAdopt = (source: OwnSource, digest: string | undefined): AppError =>
  notFound(
    `${keyOf(source)} has ${digest === undefined ? "no image" : `no image ${digest}`} that could be adopted`,
    {
      hint: "Look at its page, and at what the file names.",
    },
  );
