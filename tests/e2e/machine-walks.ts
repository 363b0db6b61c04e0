/** From an empty form to the bytes of an image, for four kinds of machines. */
import { expect, it } from "vitest";
import type { Language } from "../../components/words/translator.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { bytesAt } from "../fixtures/downloads.ts";
import { create, getFile, startWalk, storedSchematic, type TheFactory, type Walker } from "./walker.ts";

interface MachineWalk {
  title: string;
  choose: (walker: Walker, apply: () => Promise<void>) => Promise<void>;
  file: string;
  /** As YAML. */
  schematic: string;
  /** Bytes at an offset that only this kind of file has. */
  magic: [offset: number, bytes: string];
}

const XZ: MachineWalk["magic"] = [0, "\xfd7zXZ\0"];
async function choosePlatform({ page, words }: Walker, name: RegExp, apply: () => Promise<void>) {
  await page.getByRole("radio", { name: words.t("target.cloud") }).check();
  await apply();
  await page.getByRole("radio", { name }).check();
}

const WALKS: MachineWalk[] = [
  {
    title: "Proxmox with its guest agent, to a disk image",
    choose: async (walker, apply) => {
      await choosePlatform(walker, /^Nocloud/, apply);
      await walker.page.getByRole("checkbox", { name: /qemu-guest-agent/ }).check();
    },
    file: "nocloud-amd64.raw.xz",
    schematic: "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}",
    magic: XZ,
  },
  {
    title: "a Raspberry Pi with an option, to a disk image",
    choose: async ({ page, words }, apply) => {
      await page.getByRole("radio", { name: words.t("target.sbc") }).check();
      await apply();
      await page.getByLabel(words.t("board.title"), { exact: true }).selectOption("rpi_generic");
      await page.getByLabel(words.t("overlay.yaml")).fill("configTxtAppend: dtparam=audio=on");
    },
    file: "metal-arm64.raw.xz",
    schematic:
      "overlay: {image: siderolabs/sbc-raspberrypi, name: rpi_generic, options: {configTxtAppend: dtparam=audio=on}}",
    magic: XZ,
  },
  {
    title: "bare metal with SecureBoot, to an ISO image",
    choose: async ({ page }) => page.getByRole("checkbox", { name: /^SecureBoot/ }).check(),
    file: "metal-amd64-secureboot.iso",
    schematic: "{}",
    magic: [0x8001, "CD001"],
  },
  {
    title: "AWS on ARM, to a disk image",
    choose: async (walker, apply) => {
      await choosePlatform(walker, /^Amazon Web/, apply);
      await walker.page.getByRole("radio", { name: /^arm64/ }).check();
    },
    file: "aws-arm64.raw.xz",
    schematic: "{}",
    magic: XZ,
  },
];

async function walk(
  walker: Walker,
  { choose, file, schematic, magic }: MachineWalk,
  apply: () => Promise<void>,
) {
  await choose(walker, apply);
  const id = await create(walker);
  expect(walker.page.url()).not.toContain("differs");
  expect(await storedSchematic(walker, id)).toEqual(parseSchematic(schematic));
  const arrived = await getFile(walker, file);
  expect(arrived.name).toBe(file);
  const [offset, bytes] = magic;
  expect((await bytesAt(arrived.path, offset, bytes.length)).toString("latin1")).toBe(bytes);
  await walker.page.close();
}

/** Each machine with scripts. */
export function machineWalks(web: TheFactory, language: Language): void {
  it.each(WALKS)("$title", async (machine) => {
    await walk(await startWalk(web(), language), machine, async () => {});
  });
}

/** The first machine without scripts. */
export function machineWalkWithoutScripts(web: TheFactory, language: Language): void {
  it.each(WALKS.slice(0, 1))("$title", async (machine) => {
    const walker = await startWalk(web(), language, { javaScriptEnabled: false });
    const { page, words } = walker;
    await walk(walker, machine, () =>
      page
        .getByRole("button", { name: words.t("form.apply") })
        .first()
        .click(),
    );
  });
}
