/** The lock of a model: every input of its files by digest, and what else of the factory decides their bytes. */
import { z } from "zod";
import { invalidInput } from "../errors/app-error.ts";
import { digestSchema, hexSchema } from "./digest-schemas.ts";
import type { SigningIdentity } from "./recipe-types.ts";
import type { Release } from "./release.ts";

const text = z.string().min(1).max(500);
const repository = z.string().regex(/^[a-z0-9][a-z0-9._/-]{0,254}$/, "a repository path is expected");

const inputSchema = z.strictObject({
  kind: z.enum(["imager", "base-installer", "extension", "overlay"]),
  /** The catalog's name: of an extension its repository, of an overlay its board. */
  name: text,
  /** Reference people can pull, pinned by digest. */
  ref: text,
  repository,
  digest: digestSchema,
  /** Where the image is fetched: "release" is the source registry, "own" the registry of the factory itself. */
  source: z.enum(["release", "own"]),
});

const builderSchema = z.strictObject({
  /** Address that images carry. */
  externalUrl: z.url({ protocol: /^https?$/ }).max(500),
  /** Version of each build operation. */
  operations: z.record(z.string().max(100), z.int()),
  /** Packages of the programs that builds start, by name; a package that is not listed is not compared. */
  tools: z.record(z.string().max(100), z.string().max(200)),
  /** Digest of GRUB's modules installed there, by platform; used where a release brings none. */
  grub: z.record(z.string().max(100), hexSchema),
  /** What SecureBoot files are signed with, null where that is off. */
  secureBoot: z
    .strictObject({ certificate: hexSchema, pcrKey: hexSchema, databases: hexSchema.nullable() })
    .nullable(),
});

/** The document as it is written and read. */
export const modelLockSchema = z.strictObject({
  v: z.literal(1),
  schematic: hexSchema,
  version: z.string().regex(/^v\d[0-9A-Za-z.-]{0,99}$/, "a version with v is expected"),
  sample: z.boolean(),
  /** In the order in which they are applied. */
  inputs: z.array(inputSchema).min(1).max(1000),
  builder: builderSchema,
});

export type LockedInput = z.output<typeof inputSchema>;
export type LockBuilder = z.output<typeof builderSchema>;
export type ModelLock = z.output<typeof modelLockSchema>;

const HINT = "GET /api/v1/models/<schematic>/<version>/lock gives a lock; send it back as it was.";

/** A lock out of any JSON value. invalid_input naming the first field that is wrong. */
export function parseModelLock(document: unknown): ModelLock {
  const parsed = modelLockSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") || "the document";
  throw invalidInput(`this is not a lock: ${place}: ${issue?.message}`, { hint: HINT });
}

/** The release as it was when the lock was made: builds resolve from it as from a catalog of today. */
export function releaseOfLock(lock: ModelLock): Release {
  const of = (kind: LockedInput["kind"]) => lock.inputs.filter((input) => input.kind === kind);
  const [imager] = of("imager");
  if (imager === undefined) throw invalidInput("this is not a lock: it names no imager", { hint: HINT });
  const pinned = ({ repository: place, digest }: LockedInput) => ({ repository: place, digest });
  const [base] = of("base-installer");
  return {
    version: lock.version,
    sample: lock.sample,
    imager: pinned(imager),
    baseInstaller: base === undefined ? null : pinned(base),
    extensions: of("extension").map((input) => ({
      ...{ name: input.name, ref: tagged(input), digest: input.digest },
      ...{ author: "", description: "" },
      ...(input.repository === input.name ? {} : { repository: input.repository }),
    })),
    overlays: of("overlay").map((input) => ({
      ...{ name: input.name, image: input.repository, ref: tagged(input), digest: input.digest },
    })),
  };
}

const tagged = ({ ref }: LockedInput): string => ref.split("@", 1)[0] ?? ref;

/** What a plan uses of the things in which two factories may differ. */
export interface PlanNeeds {
  operations: readonly string[];
  secureBoot: boolean;
}

/** Sentences about everything that decides the bytes of a plan and is not here what it was where the lock was made. */
export function lockDifferences(lock: LockBuilder, here: LockBuilder, needs: PlanNeeds): string[] {
  const used = (names: string[]) => names.filter((name) => needs.operations.includes(name));
  const grub = needs.operations.some((name) => name.startsWith("grub-"));
  return [
    ...changed("operation", lock.operations, here.operations, used),
    ...changed("package", lock.tools, here.tools),
    ...(grub ? changed("GRUB for", lock.grub, here.grub) : []),
    ...(needs.secureBoot && !sameKeys(lock.secureBoot, here.secureBoot)
      ? ["SecureBoot files are signed with other keys"]
      : []),
  ];
}

/** Names that only one of both knows are compared only where they must be on both. */
function changed<T extends string | number>(
  what: string,
  lock: Readonly<Record<string, T>>,
  here: Readonly<Record<string, T>>,
  choose = (names: string[]) => names.filter((name) => Object.hasOwn(here, name)),
): string[] {
  return choose(Object.keys(lock).sort()).flatMap((name) =>
    lock[name] === here[name] ? [] : [`${what} ${name} is ${here[name] ?? "missing"}, was ${lock[name]}`],
  );
}

const sameKeys = (a: SigningIdentity | null, b: SigningIdentity | null): boolean =>
  a?.certificate === b?.certificate && a?.pcrKey === b?.pcrKey && a?.databases === b?.databases;
