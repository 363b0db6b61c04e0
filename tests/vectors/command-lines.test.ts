/** Recorded command lines and PXE scripts, every entry through the real functions. */
import { describe, expect, it } from "vitest";
import { parseAssetPath } from "../../lib/domain/asset-path.ts";
import { Cmdline, composeCmdline } from "../../lib/domain/cmdline.ts";
import { decodeMeta } from "../../lib/domain/meta-env.ts";
import { pxeScript } from "../../lib/domain/pxe.ts";
import { resolveRecipe } from "../../lib/domain/recipe.ts";
import type { MetaValue } from "../../lib/domain/recipe-types.ts";
import { versionTag } from "../../lib/domain/versions.ts";
import { recipeRequest } from "../fixtures/recipes.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Entry {
  schematic: string;
  version: string;
  path: string;
  status: number;
  body: string;
}
interface Vectors {
  schematics: { name: string; schematic: string; id: string }[];
  entries: Entry[];
}

const PAYLOAD = /INSTALLER_META_BASE64=(H4sI\S+)/;

/** Packed payloads as the values they hold: another gzip encoder gives other bytes. */
function withUnpackedMeta(text: string): { text: string; meta: MetaValue[] } {
  const payload = PAYLOAD.exec(text)?.[1];
  return payload === undefined
    ? { text, meta: [] }
    : { text: text.replace(payload, "<packed>"), meta: decodeMeta(payload) };
}

function requestOf(vectors: Vectors, entry: Entry, path: string) {
  const schematic = vectors.schematics.find(({ name }) => name === entry.schematic);
  if (schematic === undefined) throw new Error(`no schematic ${entry.schematic}`);
  return recipeRequest(path, versionTag(entry.version), schematic.schematic, { schematicId: schematic.id });
}

/** Groups entries by schematic, so that a failure names it and the report stays short. */
function groups(vectors: Vectors): [name: string, entries: Entry[]][] {
  return vectors.schematics.map(({ name }) => [
    name,
    vectors.entries.filter((entry) => entry.schematic === name),
  ]);
}

function answersOf(vectors: Vectors, entries: Entry[], answer: (entry: Entry) => string) {
  const counts = { equal: 0, repacked: 0 };
  for (const entry of entries) {
    const where = `${entry.schematic} ${entry.version} ${entry.path}`;
    expect(entry.status, where).toBe(200);
    const actual = answer(entry);
    if (actual === entry.body) {
      counts.equal += 1;
      continue;
    }
    const [mine, recorded] = [withUnpackedMeta(actual), withUnpackedMeta(entry.body)];
    expect(recorded.meta.length, `${where}: not a packed META value`).toBeGreaterThan(0);
    expect(mine, where).toEqual(recorded);
    counts.repacked += 1;
  }
  expect(counts.equal + counts.repacked).toBe(entries.length);
  expect(vectors.entries.length).toBeGreaterThan(0);
  return counts;
}

describe("recorded command lines", () => {
  const vectors = vectorFile<Vectors>("cmdline.json");
  const total = { equal: 0, repacked: 0 };

  it.each(groups(vectors))("gives every line of schematic %s", (_name, entries) => {
    const counts = answersOf(vectors, entries, (entry) =>
      composeCmdline(resolveRecipe(requestOf(vectors, entry, entry.path))),
    );
    total.equal += counts.equal;
    total.repacked += counts.repacked;
  });

  it("covers all 2410 entries, 50 of them with a gzip stream of our own", () => {
    expect(total).toEqual({ equal: 2360, repacked: 50 });
    console.info(`command lines: ${total.equal} byte-equal, ${total.repacked} equal after unpacking META`);
  });

  it("composes lines that parse back to themselves", () => {
    for (const { body } of vectors.entries) expect(Cmdline.parse(body).toString()).toBe(body);
  });
});

describe("recorded PXE scripts", () => {
  const vectors = vectorFile<Vectors>("pxe.json");
  const total = { equal: 0, repacked: 0 };

  it.each(groups(vectors))("gives every script of schematic %s", (_name, entries) => {
    const counts = answersOf(vectors, entries, (entry) => {
      const recipe = resolveRecipe(requestOf(vectors, entry, `cmdline-${entry.path}`));
      const script = pxeScript({
        baseUrl: "http://pxe.test",
        schematicId: recipe.schematicId,
        version: recipe.version,
        profile: parseAssetPath(`cmdline-${entry.path}`),
        cmdline: composeCmdline(recipe),
      });
      return script.replaceAll("http://pxe.test", "{BASE}").replaceAll(recipe.schematicId, "{ID}");
    });
    total.equal += counts.equal;
    total.repacked += counts.repacked;
  });

  it("covers all 648 entries", () => {
    expect(total).toEqual({ equal: 648, repacked: 0 });
    console.info(`PXE scripts: ${total.equal} byte-equal`);
  });
});
