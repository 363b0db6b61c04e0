/** The README's table of what works is what the planner says, and its links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SigningIdentity } from "../../lib/domain/recipe-types.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { planAsset } from "../../lib/imager/plan.ts";
import { recipeFor } from "../fixtures/recipes.ts";

const SIGNING: SigningIdentity = { certificate: "c".repeat(64), pcrKey: "d".repeat(64), databases: null };
const VERSIONS = ["v1.4.8", "v1.7.6", "v1.9.5", "v1.10.7", "v1.13.2"];
const readme = readFileSync("README.md", "utf8");

/** "yes", or why not. */
function outcome(path: string, version: string, signing?: SigningIdentity): string {
  try {
    planAsset(recipeFor(path, version, undefined, signing ? { signing } : { secureBootEnabled: false }));
    return "yes";
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}

const rows = [...readme.matchAll(/^\| `([^`]*<arch>[^`]*)`[^|]*\| ([^|]+) \| ([^|]+) \|$/gm)].map(
  (match) => ({
    name: match[1] ?? "",
    cells: { amd64: match[2] ?? "", arm64: match[3] ?? "" },
  }),
);

describe("the table of files", () => {
  it("is there", () => expect(rows.length).toBeGreaterThan(8));

  it.each(rows)("tells the truth about $name", ({ name, cells }) => {
    for (const [arch, cell] of Object.entries(cells)) {
      const path = name.replace("<arch>", arch);
      const keys = cell.startsWith("with keys");
      const first = /from (1\.\d+)/.exec(cell)?.[1];
      for (const version of VERSIONS) {
        const minor = Number(version.split(".")[1]);
        const works = cell !== "no" && (first === undefined || minor >= Number(first.slice(2)));
        const place = `${path} of ${version}`;
        if (works) expect(outcome(path, version, keys ? SIGNING : undefined), place).toBe("yes");
        else expect(outcome(path, version, keys ? SIGNING : undefined), place).toBe("invalid_input");
        if (keys) expect(outcome(path, version), `${place} without keys`).toBe("invalid_input");
      }
    }
  });
});

it("links of all pages lead to files", () => {
  const pages = ["README.md", "CONTRIBUTING.md", ...["docs", "docs/adr"].flatMap(pagesOf)];
  const broken = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map((match) => match[1] ?? "")
      .filter((target) => !existsSync(join(dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

function pagesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}
