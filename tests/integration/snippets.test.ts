/** Every address in every snippet is answered by a real factory, as the kind of file the snippet expects. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBoardByOverlay } from "../../lib/domain/boards.ts";
import type { SnippetContext } from "../../lib/domain/snippets/types.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import {
  boardChoices,
  factoryAddresses,
  platformChoices,
  writtenSnippets,
} from "../fixtures/snippet-choices.ts";

const AT_ONCE = 16;
const TYPES: [ending: RegExp, type: string][] = [
  [/\.iso$/, "application/x-iso9660-image"],
  [/\.xz$/, "application/x-xz"],
  [/\.gz$/, "application/gzip"],
  [/\.zst$/, "application/zstd"],
  [/\.qcow2$/, "application/x-qemu-disk"],
  [/\.efi$/, "application/efi"],
  [/(\.ova|\/kernel-\w+)$/, "application/octet-stream"],
];

let factory: TestFactory;
beforeAll(async () => {
  // The snippets of firmware are asked for at the same address here.
  factory = await startTestFactory({ environment: { EXTERNAL_PXE_URL: "" } });
}, 300_000);
afterAll(() => factory?.stop(), 60_000);

const place = (schematicId: string) => ({ publicUrl: factory.url, pxeUrl: factory.url, schematicId });

/** Asks for all addresses, a few at a time; gives what was wrong. HEAD builds nothing. */
async function problems(addresses: readonly string[]): Promise<string[]> {
  const waiting = [...addresses];
  const found: string[] = [];
  const ask = async (address: string) => {
    const script = address.includes("/pxe/");
    const reply = await fetch(address, { method: script ? "GET" : "HEAD" });
    const text = await reply.text();
    const type = reply.headers.get("content-type") ?? "";
    const wanted = script ? "text/plain" : TYPES.find(([ending]) => ending.test(address))?.[1];
    if (reply.status !== 200) found.push(`${address}: ${reply.status} ${text.trim()}`);
    else if (wanted === undefined || !type.startsWith(wanted)) found.push(`${address}: ${type}`);
    else if (script) waiting.push(...scriptAddresses(text));
  };
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await ask(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

const scriptAddresses = (script: string): string[] =>
  [...script.matchAll(/^(?:kernel|initrd) (\S+)/gm)].map(([, address = ""]) => address);

const addressesOf = (contexts: readonly SnippetContext[]): string[] => [
  ...new Set(writtenSnippets(contexts).flatMap(({ shown, context }) => factoryAddresses(context, shown))),
];

const versions = async (): Promise<string[]> => (await fetch(`${factory.url}/versions`)).json();

describe("the addresses of snippets", () => {
  it("answer for every platform, architecture and release, with and without SecureBoot", async () => {
    const id = await factory.schematic(
      "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}",
    );
    const addresses = addressesOf(platformChoices(place(id), await versions()));
    console.log(`${addresses.length} addresses of snippets asked for`);
    expect(addresses.length).toBeGreaterThan(200);
    expect(await problems(addresses)).toEqual([]);
  });

  it("answer for the boards whose overlays the releases have", async () => {
    let asked = 0;
    for (const version of await versions()) {
      const overlays = await (await fetch(`${factory.url}/version/${version}/overlays/official`)).json();
      for (const overlay of overlays) {
        const board = findBoardByOverlay(overlay);
        const id = await factory.schematic(
          `overlay: {image: ${overlay.image}, name: ${overlay.name}}\ncustomization: {}`,
        );
        const choices = boardChoices(place(id), [version]).filter((one) => one.board?.name === board?.name);
        const addresses = addressesOf(choices);
        if (board !== null) expect(addresses.length).toBeGreaterThan(0);
        expect(await problems(addresses)).toEqual([]);
        asked += addresses.length;
      }
    }
    expect(asked).toBeGreaterThan(0);
  });

  it("are told apart from those that do not answer", async () => {
    const id = await factory.schematic("customization: {}");
    const folder = `${factory.url}/image/${id}/v1.13.2`;
    expect(await problems([`${folder}/aws-amd64.banana`, `${folder}/cmdline-metal-amd64`])).toHaveLength(2);
  });
});
