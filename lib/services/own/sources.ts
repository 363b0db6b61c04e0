/** Own sources: add, look, adopt, upload, retire, remove. Every change is on purpose; nothing moves by itself. */
import pLimit from "p-limit";
import { newBuildId } from "../../db/build-id.ts";
import type { OwnPin, OwnSource, OwnSourceInput } from "../../domain/own-sources.ts";
import { quoteText } from "../../domain/quote.ts";
import type { Release } from "../../domain/release.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import type { ReleaseService } from "../contracts.ts";
import { requireNewestVersion } from "../releases/newest-version.ts";
import type { FindConfigured } from "../schematics/hidden-schematics.ts";
import type {
  AdoptRequest,
  OwnAccess,
  OwnPinView,
  OwnSourceService,
  OwnSourceView,
  UploadRequest,
} from "./contracts.ts";
import { lookAtSource, refuseTooMany } from "./looking.ts";
import { adopted, refuseOfficialName, toPinView } from "./pins.ts";
import { publishPin, repositoryOfPin } from "./publishing.ts";
import { takeUpload, type UploadOptions } from "./uploads.ts";
import { usageOf } from "./usage.ts";

/** Looks of one process side by side; each may hold room for all that its source says it has. */
const LOOKS_AT_ONCE = 4;

export interface OwnSourceServiceOptions extends UploadOptions {
  access: OwnAccess;
  /** The releases without own entries: what is official. */
  official: ReleaseService;
  findConfigured: FindConfigured;
  /** Called after each change. */
  onChange: () => void;
}

/** The use cases of own sources. Who may use them is asked by the routes. */
export function createOwnSourceService(options: OwnSourceServiceOptions): OwnSourceService {
  const { rows, access, onChange } = options;
  const limit = pLimit(LOOKS_AT_ONCE);
  const reads = readsOf(options);
  const look = (source: OwnSource, signal: AbortSignal) => limit(() => lookAtSource(options, source, signal));
  const changed = <T>(result: T): T => {
    onChange();
    return result;
  };
  return {
    access,
    ...reads,
    async add(input, signal) {
      requireOverride(access, input.override);
      const source = newSource(options, input, false);
      const pins = source.kind === "upload" ? [] : await look(source, signal);
      if (!(await rows.addSource(source, pins))) throw nameTaken(source);
      return changed(await reads.require(source.id));
    },
    async look(id, signal) {
      const source = await requireSource(options, id);
      const pins = source.kind === "upload" ? [] : await look(source, signal);
      if (!(await rows.addPins(pins))) throw sourceGone(source);
      return changed(await reads.require(id));
    },
    adopt: async (pinId, request) => changed(await adopt(options, pinId, request)),
    async adoptAll(id, request) {
      for (const { id: pinId, state } of (await reads.require(id)).pins)
        if (state === "offered") await adoptIfAllowed(options, pinId, request);
      return changed(await reads.require(id));
    },
    async retire(pinId) {
      await requirePinRow(options, pinId);
      await rows.retirePin(pinId);
      return changed(await reads.requirePin(pinId));
    },
    upload: async (request) => changed(await upload(options, request)),
    async remove(id) {
      const source = await requireSource(options, id);
      if (source.declared) throw declaredInFile();
      const usage = await usageOf(options, id);
      await rows.removeSource(id);
      return changed(usage);
    },
  };
}

async function adopt(
  options: OwnSourceServiceOptions,
  pinId: string,
  request: AdoptRequest,
): Promise<OwnPinView> {
  const found = requireSourced(await requirePinRow(options, pinId));
  if (found.state === "retired") await refuseTooMany(options, 1);
  const pin = adopted(found, request, await newestOfficial(options), at(options));
  await takeIntoUse(options, pin);
  return toPinView(pin);
}

/** Each image of a catalog keeps the release it was listed for. */
async function adoptIfAllowed(
  options: OwnSourceServiceOptions,
  pinId: string,
  { acceptWarnings = false }: AdoptRequest,
): Promise<void> {
  const [pin, official] = [await requirePinRow(options, pinId), await newestOfficial(options)];
  const next = attempt(() => adopted(pin, { acceptWarnings }, official, at(options)));
  if (next !== null) await takeIntoUse(options, next);
}

async function upload(options: OwnSourceServiceOptions, request: UploadRequest): Promise<OwnPinView> {
  const { rows, access } = options;
  const { namespace, name, override = false } = request;
  requireOverride(access, override);
  const official = await newestOfficial(options);
  refuseOfficialName({ subject: "extension", name: `${namespace}/${name}`, override }, official);
  const known = await findUploads(options, request);
  const source = known ?? newUploads(options, request);
  const offered = await takeUpload(options, source.id, request);
  const added = known === null ? await rows.addSource(source, [offered]) : await rows.addPins([offered]);
  const pin = added ? offered : await addToOther(options, source, offered);
  if (known !== null && override && !known.override) await rows.changeSource({ ...known, override });
  const next = attempt(() => adopted(pin, request, official, at(options)));
  if (next !== null) await takeIntoUse(options, next);
  return toPinView(next ?? pin);
}

/** The source was made by another upload, or removed, while this one was on its way. */
async function addToOther(
  { rows }: OwnSourceServiceOptions,
  source: OwnSource,
  offered: OwnPin,
): Promise<OwnPin> {
  const { namespace, name } = source;
  const other = await findUploads({ rows }, { namespace, name: name ?? "" });
  const pin = { ...offered, sourceId: other?.id ?? null };
  if (other !== null && (await rows.addPins([pin]))) return pin;
  throw sourceGone(source);
}

type Reads = Pick<OwnSourceService, "list" | "require" | "requirePin" | "check" | "usage">;

function readsOf(options: OwnSourceServiceOptions): Reads {
  const { rows, inspection, official, turn } = options;
  return {
    async list() {
      const [sources, pins] = await Promise.all([rows.sources(), rows.pins()]);
      return sources.map((source) =>
        viewOf(
          source,
          pins.filter((pin) => pin.sourceId === source.id),
        ),
      );
    },
    async require(id) {
      return viewOf(await requireSource(options, id), await rows.pins({ sourceId: id }));
    },
    requirePin: async (id) => toPinView(await requirePinRow(options, id)),
    async check(pinId, version, signal) {
      const pin = await requirePinRow(options, pinId);
      if (pin.subject === "overlay") return [];
      const image = { ...pin, repository: repositoryOfPin(pin) };
      const release = await official.require(version);
      return turn(() => inspection.reports(image, release, signal));
    },
    async usage(id) {
      await requireSource(options, id);
      return usageOf(options, id);
    },
  };
}

/** Where everyone may bring extensions, nobody may put one in place of what others take for the official one. */
function requireOverride({ mode }: OwnAccess, override: boolean): void {
  if (!override || mode !== "everyone") return;
  throw new AppError("forbidden", "Official extensions are replaced by administrators only", {
    hint: "The operator can set OWN_EXTENSIONS=admin and an ADMIN_TOKEN, or declare the source in OWN_EXTENSIONS_FILE.",
    retryable: false,
  });
}

/** Puts a pin into use as it is given. It can be pulled before any release names it. */
export async function takeIntoUse({ rows, place }: OwnSourceServiceOptions, pin: OwnPin): Promise<void> {
  await publishPin(place.rows, pin);
  const end = await rows.adoptPin(pin);
  if (end === "gone") throw pinWithoutSource(pin);
  if (end === "taken")
    throw new AppError("conflict", `Somebody else adopted another image of ${pin.name} just now`, {
      hint: "Look again, then decide which one is meant.",
      retryable: true,
    });
}

const at = ({ now }: OwnSourceServiceOptions): Date => new Date(now());

const viewOf = (source: OwnSource, pins: OwnPin[]): OwnSourceView => ({
  ...source,
  pins: pins.map(toPinView),
});

/** The result, or null when it is refused because somebody has to decide. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") return null;
    throw error;
  }
}

/** A row for what was asked, before anything is known of it. */
export function newSource(
  { now }: Pick<OwnSourceServiceOptions, "now">,
  input: OwnSourceInput,
  declared: boolean,
): OwnSource {
  const { name = null, reference = null, ...rest } = input;
  return { ...rest, id: newBuildId(now()), name, reference, declared, createdAt: new Date(now()) };
}

async function requireSource({ rows }: OwnSourceServiceOptions, id: string): Promise<OwnSource> {
  const source = await rows.findSource(id);
  if (source !== null) return source;
  throw notFound(`There is no source ${quoteText(id)}`, { hint: "GET /api/v1/sources lists them." });
}

async function requirePinRow({ rows }: OwnSourceServiceOptions, id: string): Promise<OwnPin> {
  const pin = await rows.findPin(id);
  if (pin !== null) return pin;
  throw notFound(`There is no image ${quoteText(id)} of an own source`, {
    hint: "GET /api/v1/sources lists them.",
  });
}

/** What a deleted source left behind serves old files only: nobody could look after it. */
function requireSourced(pin: OwnPin): OwnPin {
  if (pin.sourceId !== null) return pin;
  throw pinWithoutSource(pin);
}

const pinWithoutSource = ({ name }: OwnPin): AppError =>
  new AppError("conflict", `The source of ${name} was deleted`, {
    hint: "Upload the extension again, or add its source again.",
    retryable: false,
  });

const sourceGone = ({ namespace, name }: OwnSource): AppError =>
  notFound(`The source ${quoteText(`${namespace}/${name ?? "…"}`)} was deleted meanwhile`, {
    hint: "Add it again, or send the archive again, if that was not meant.",
  });

const declaredInFile = (): AppError =>
  new AppError("conflict", "This source is declared in a file", {
    hint: "Take it out of the file that OWN_EXTENSIONS_FILE names.",
    retryable: false,
  });

/** Uploads of one name belong together. conflict when the name belongs to another kind of source. */
async function findUploads(
  { rows }: Pick<OwnSourceServiceOptions, "rows">,
  { namespace, name }: Pick<UploadRequest, "namespace" | "name">,
): Promise<OwnSource | null> {
  const known = (await rows.sources()).find(
    (source) => source.subject === "extension" && source.namespace === namespace && source.name === name,
  );
  if (known !== undefined && known.kind !== "upload") throw nameTaken(known);
  return known ?? null;
}

function newUploads(
  options: OwnSourceServiceOptions,
  { namespace, name, override = false }: UploadRequest,
): OwnSource {
  const input = {
    kind: "upload",
    subject: "extension",
    namespace,
    name,
    override,
    trust: { rule: "off" },
  } as const;
  return newSource(options, input, false);
}

/** Own names are compared with those of the newest stable release, and of the newest of all. */
export async function newestOfficial({
  official,
}: Pick<OwnSourceServiceOptions, "official">): Promise<Release[]> {
  const versions = await official.versions();
  if (versions.length === 0) return [];
  const wanted = new Set([await requireNewestVersion(official), ...versions.slice(-1)]);
  return Promise.all([...wanted].map((version) => official.require(version)));
}

function nameTaken({ namespace, name, subject }: OwnSource): AppError {
  const what = name === null ? `the namespace ${quoteText(namespace)}` : quoteText(`${namespace}/${name}`);
  return new AppError("conflict", `There is a source for ${subject} ${what} already`, {
    hint: "Change or delete that one, or choose another name.",
    retryable: false,
  });
}
