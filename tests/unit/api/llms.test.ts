/** What /llms.txt offers must be what this factory makes and answers. */
import { expect, it } from "vitest";
import { createMachineApi } from "../../../api/app.ts";
import { llmsText } from "../../../api/llms.ts";
import { parseAssetPath } from "../../../lib/domain/asset-path.ts";
import type { Services } from "../../../lib/services/contracts.ts";

const BASE = "http://factory.lan";
const text = llmsText(BASE);

it("names only files that parse", () => {
  const names = text
    .split("\n")
    .filter((line) => /^\| `/.test(line))
    .flatMap((line) =>
      [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""),
    );
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) expect(() => parseAssetPath(name), name).not.toThrow();
});

it("names only routes that are there", () => {
  const { routes } = createMachineApi({
    services: {} as Services,
    publicUrl: BASE,
    onFailure: () => undefined,
  });
  const paths = [...text.matchAll(/http:\/\/factory\.lan(\/[^`\s:,;]*)/g)].map(([, path]) => path ?? "");
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) {
    const plain = path.replace(/<[^>]+>/g, "x").replace(/\.$/, "");
    expect(["found", "wrong-method"], path).toContain(routes.match("GET", plain).kind);
  }
});
