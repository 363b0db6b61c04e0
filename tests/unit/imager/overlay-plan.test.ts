/** Plans with a board overlay: what they ask the overlay, where its answer goes, and what stays as without it. */
import { describe, expect, it } from "vitest";
import type { Recipe } from "../../../lib/domain/recipe-types.ts";
import { planAsset } from "../../../lib/imager/plan.ts";
import { installInput } from "../../../lib/imager/steps/overlay-install.ts";
import { parseAnswer } from "../../../lib/imager/steps/overlay-options.ts";
import type { BuildPlan } from "../../../lib/imager/types.ts";
import { parsePlan } from "../../../lib/services/builds/plan.ts";
import { parseProfile } from "../../../lib/services/inputs/overlay-profiles.ts";
import { bootRecipe } from "../../fixtures/imager-boot-fixture.ts";
import { diskRecipe } from "../../fixtures/imager-disk-fixture.ts";

const board = (options: Record<string, unknown> = {}): Recipe["overlay"] => ({
  entry: { name: "rpi_generic", image: "siderolabs/sbc", ref: "sbc:v1", digest: `sha256:${"c".repeat(64)}` },
  options,
});
const arm64 = { platform: "metal", arch: "arm64", secureboot: false, outFormat: "raw" } as const;
const disk = (changes: Partial<Recipe> = {}): Recipe =>
  diskRecipe({
    profile: {
      ...arm64,
      kind: "image",
      disk: { format: "raw", sizeBytes: 1_306_525_696, formatOptions: "" },
    },
    bootloader: "grub",
    overlay: board(),
    ...changes,
  });
const ids = ({ steps }: BuildPlan): string[] => steps.map(({ id }) => id);
const step = (plan: BuildPlan, id: string) => plan.steps.find((candidate) => candidate.id === id);

describe("a plan with a board", () => {
  it("asks the overlay once, lets it install, and hands both on", () => {
    const plan = planAsset(disk());
    expect(ids(plan)).toEqual(expect.arrayContaining(["board-options", "board-command-line", "board-files"]));
    expect(plan.inputs.find(({ id }) => id === "board-image")).toMatchObject({
      kind: "image-tree",
      arch: "host",
    });
    const { needs = [], params = {} } = step(plan, "disk") ?? {};
    expect(needs[Number(params.prepared)]).toBe("board-files");
    expect(params.entriesOffset).toEqual({ need: needs.indexOf("board-options") });
    const menu = step(plan, "boot");
    expect(menu?.params.menu).toMatchObject({
      commandLine: { need: menu?.needs.indexOf("board-command-line") },
    });
    expect(menu?.params).not.toHaveProperty("grubConfig");
    const esp = step(plan, "esp");
    expect(esp?.needs[Number(esp.params.tree)]).toBe("board-files");
  });

  it("survives being stored", () => {
    const plan = planAsset(disk());
    expect(parsePlan(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it("gets another key by options, name and image, not by the repository", () => {
    const key = planAsset(disk()).key;
    const entry = board()?.entry ?? { name: "", image: "", ref: "", digest: "" };
    const other = (changes: Partial<typeof entry>) =>
      planAsset(disk({ overlay: { entry: { ...entry, ...changes }, options: {} } })).key;
    expect(planAsset(disk({ overlay: board({ configTxt: "a=1" }) })).key).not.toBe(key);
    expect(other({ digest: `sha256:${"d".repeat(64)}` })).not.toBe(key);
    expect(other({ name: "rpi_5" })).not.toBe(key);
    expect(other({ image: "mirror/sbc", ref: "x" })).toBe(key);
  });

  it("with systemd-boot keeps the offset and the arguments, and installs nothing", () => {
    const plan = planAsset(disk({ bootloader: "sd-boot" }));
    expect(ids(plan)).not.toContain("board-files");
    expect(step(plan, "disk")?.params).not.toHaveProperty("prepared");
    expect(step(plan, "disk")?.params.entriesOffset).toHaveProperty("need");
    expect(step(plan, "uki")?.params.commandLine).toEqual({ need: 3, suffix: "" });
    expect(step(plan, "uki")?.params.profiles).toMatchObject([
      { commandLine: { need: 3, suffix: " talos.experimental.wipe=system:EPHEMERAL,STATE" } },
    ]);
  });

  it.each(["initramfs", "kernel"] as const)("makes the same %s as without", (kind) => {
    const profile = { ...arm64, kind };
    const key = (overlay: Recipe["overlay"]) => planAsset(bootRecipe(kind, { profile, overlay })).key;
    expect(key(board())).toBe(key(null));
  });

  it("refuses before anything is built what the command line cannot hold", () => {
    const profile = { ...arm64, kind: "iso" as const };
    const meta = [{ key: 10, value: "a;b" }];
    expect(() =>
      planAsset(bootRecipe("iso", { profile, overlay: board(), meta, bootloader: "sd-boot" })),
    ).toThrow("0xa");
  });
});

describe("GRUB's modules", () => {
  const key = (changes: Partial<Recipe>) =>
    step(planAsset(disk({ overlay: null, ...changes })), "grub-arm64-efi")?.key;

  it("of the imager image and of this factory both decide the key", () => {
    const plain = key({});
    expect(key({ imager: { repository: "siderolabs/imager", digest: `sha256:${"e".repeat(64)}` } })).not.toBe(
      plain,
    );
    expect(key({ installedGrub: { "arm64-efi": "1".repeat(64) } })).not.toBe(plain);
    expect(key({ installedGrub: { "i386-pc": "1".repeat(64) } })).toBe(plain);
  });
});

describe("the protocol", () => {
  it("reads what programs answer", () => {
    const answer =
      "name: rock4cplus\nkernelArgs:\n    - console=tty0\n    - a=b\npartitionOptions:\n    offset: 20480\n";
    expect(parseAnswer("x", answer)).toEqual({ kernelArgs: ["console=tty0", "a=b"], offset: 20_480 });
    expect(parseAnswer("x", "name: x\nkernelArgs: null\npartitionOptions: null\n")).toEqual({
      kernelArgs: [],
      offset: 0,
    });
    expect(parseAnswer("x", "name: x\n")).toEqual({ kernelArgs: [], offset: 0 });
  });

  it.each([
    "",
    "nonsense",
    "- a",
    "partitionOptions: {offset: -1}",
    "kernelArgs: [1]",
    "a: [",
    "partitionOptions: {offset: 1e20}",
  ])("names the overlay when the answer is %j", (answer) => {
    expect(() => parseAnswer("x", answer)).toThrow(
      'the overlay x answers "get-options" with something unreadable',
    );
  });

  it("gives options to install indented, block texts included, and leaves out none", () => {
    expect(installInput("{}\n")).toBe(
      "installDisk: /work/disk.raw\nmountPrefix: /work/mount\nartifactsPath: /overlay/artifacts\n",
    );
    expect(installInput("configTxt: |\n    a=1\n\n    b=2\n")).toContain(
      "extraOptions:\n    configTxt: |\n        a=1\n\n        b=2\n",
    );
  });
});

describe("an overlay's profile", () => {
  const text = (rest: string) =>
    `arch: arm64\nplatform: metal\nsecureboot: false\noutput:\n  kind: image\n  outFormat: .xz\n  imageOptions:\n    diskSize: 1306525696\n    diskFormat: raw\n${rest}`;

  it("gives boot loader and sector size for disks, nothing for ISO images", () => {
    expect(parseProfile("x", text("    bootloader: grub\n"))).toEqual({
      image: { bootloader: "grub" },
      iso: {},
    });
    expect(parseProfile("x", text("    bootloader: none\n    diskSectorSize: 4096\n"))).toEqual({
      image: { sectorSize: 4096 },
      iso: {},
    });
    expect(parseProfile("x", text(""))).toEqual({ image: {}, iso: {} });
    expect(parseProfile("x", "")).toEqual({ image: {}, iso: {} });
    expect(parseProfile("x", "output:\n  isoOptions: {bootloader: grub}\n").iso).toEqual({
      bootloader: "grub",
    });
  });

  it.each([text("    bootloader: lilo\n"), "output: [", "output: 1"])(
    "names the overlay when it is unreadable",
    (bad) => {
      expect(() => parseProfile("rpi_generic", bad)).toThrow("the profile of the board overlay rpi_generic");
    },
  );
});
