/** Recorded refusals: the same status and words, except where docs/compat.md says why not. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAssetPath } from "../../lib/domain/asset-path.ts";
import { composeCmdline } from "../../lib/domain/cmdline.ts";
import { resolveRecipe } from "../../lib/domain/recipe.ts";
import { versionTag } from "../../lib/domain/versions.ts";
import { recipeRequest } from "../fixtures/recipes.ts";
import { refusal } from "../fixtures/refusal.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Refusal {
  path: string;
  /** Null: the connection was dropped. */
  status: number | null;
  body: string;
}

const customization = (text: string) => `customization:\n    ${text}\n`;
const extension = (name: string) => customization(`systemExtensions: {officialExtensions: [${name}]}`);
const SCHEMATICS: Record<string, string> = {
  "{EMPTY}": "customization: {}\n",
  "{UNKNOWN_EXTENSION}": extension("siderolabs/nope"),
  "{SHORT_NAME}": extension("qemu-guest-agent"),
  "{UNKNOWN_OVERLAY}": "overlay: {image: siderolabs/sbc-raspberrypi, name: nope}\ncustomization: {}\n",
  "{BAD_ENROLL}": customization("secureboot: {enrollKeys: sometimes}"),
  "{EMBEDDED}": customization('embeddedMachineConfiguration: "kind: HostnameConfig"'),
  "{SECTOR777}": customization("diskImage: {sectorSize: 777}"),
};

const notAVersion = (text: string) => `version "${text}" is not a version number\n`;
const badName = (name: string) => `error parsing profile from path: invalid profile path: "${name}"\n`;

/** What we say instead, by path. Every rule here has a line in docs/compat.md. */
function corrected({ path, status, body }: Refusal): { status: number; body: string } {
  const [, route = "", first = "", second = "", name = ""] = decodeURIComponent(path).split("/");
  const version = route === "version" ? first : second;
  if (status === null) return { status: 400, body: badName(name) };
  if (path.includes("nosuch-")) return { status: 400, body: 'platform "nosuch" is not known\n' };
  if (first === "{SECTOR777}") {
    return {
      status: 400,
      body: "error enhancing profile from schematic: diskImage.sectorSize 777 is not supported\n",
    };
  }
  if (first === "{UNKNOWN_OVERLAY}") return { status, body: body.replace('{"" "" ""}', '"nope"') };
  if (status !== 500) return { status, body };
  if (!version.includes("+")) return { status: 400, body: notAVersion(version) };
  return { status: 400, body: `version "${version}" carries build metadata, which no release has\n` };
}

function ask(path: string): unknown {
  const [, route = "", first = "", second = "", name = ""] = decodeURIComponent(path).split("/");
  if (route === "version") return versionTag(first);
  const version = versionTag(second);
  const asset = route === "pxe" ? `cmdline-${name}` : name;
  parseAssetPath(asset);
  const recipe = resolveRecipe(recipeRequest(asset, version, SCHEMATICS[first] ?? ""));
  return composeCmdline(recipe);
}

const recorded = vectorFile<Refusal[]>("refusals.json");
const differs = (entry: Refusal) => {
  const ours = corrected(entry);
  return ours.status !== entry.status || ours.body !== entry.body;
};

describe("recorded refusals", () => {
  it.each(recorded.filter((entry) => !differs(entry)))("$status $path", (entry) => {
    const thrown = refusal(() => ask(entry.path));
    expect([thrown.status, `${thrown.message}\n`]).toEqual([entry.status, entry.body]);
  });

  it.each(recorded.filter(differs))("corrected: $path", (entry) => {
    const thrown = refusal(() => ask(entry.path));
    const ours = corrected(entry);
    expect([thrown.status, `${thrown.message}\n`]).toEqual([ours.status, ours.body]);
  });

  it("are 70, of which 32 are corrected and documented", () => {
    expect([recorded.length, recorded.filter(differs).length]).toEqual([70, 32]);
    const page = readFileSync(new URL("../../docs/compat.md", import.meta.url), "utf8");
    for (const id of ["R1", "R2", "R3", "R4", "R5", "R6"]) expect(page, id).toContain(`| ${id} |`);
  });
});
