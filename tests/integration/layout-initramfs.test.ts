/**
 * Every recorded initramfs, whole: segments, members of the archives, squashfs images, texts. Extensions are made anew
 * from what was recorded of them.
 */
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  extensions,
  KERNEL_RELEASE,
  kernelModule,
} from "../fixtures/imager-boot-fixture.ts";
import {
  describeInitramfs,
  type InitramfsLayout,
  type Segment,
  type Squashfs,
} from "../fixtures/layout/initramfs.ts";
import { RECORDED_INITRAMFS } from "../fixtures/layout/recorded.ts";

const EPOCH = 1_559_424_892;
const RECORDED_RELEASE = "6.1.0-57-cloud-amd64";
const MICROCODE_BYTES = 131_072;

let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop();
});
afterAll(() => shop?.close());

interface Layer {
  image: string;
  metadata: { name: string; version: string; extraInfo?: string };
}
const layersOf = (segment: Segment): Layer[] => parse(segment["extensions.yaml"] ?? "").layers;

interface Listed {
  mode: string;
  size: number;
  path: string;
  target: string | undefined;
}

/** A line of unsquashfs: mode, owner, size, date, time, path, where a link points. */
function listed(line: string): Listed {
  const [mode = "", , size = "0", , , path = "", , target] = line.split(" ");
  return { mode, size: Number(size), path, target };
}

/** The files of an extension: those of its squashfs image, and the firmware that went into the archive. */
function filesOf(name: string, image: Squashfs | undefined, firmware: [string, number][]) {
  const files: Record<string, string | Buffer | { linkTo: string }> = {};
  for (const { mode, size, path, target } of (image?.list ?? []).map(listed)) {
    const own = `rootfs${path.replace(RECORDED_RELEASE, KERNEL_RELEASE)}`;
    if (target !== undefined) files[own] = { linkTo: target };
    else if (path.endsWith(".ko")) files[own] = kernelModule("bonding");
    else if (!mode.startsWith("d")) files[own] = Buffer.alloc(size, name);
  }
  for (const [path, size] of firmware) files[`rootfs/${path}`] = Buffer.alloc(size, path);
  return files;
}

/** Adds the extensions of an entry to the workshop and gives their names. */
async function addExtensions(entry: string, layout: InitramfsLayout): Promise<string[]> {
  const tail = layout.segments.at(-1);
  if (tail === undefined) return [];
  const members = tail.members ?? [];
  const firmware = members.filter(
    ({ name, mode }) => name.includes("lib/firmware/") && mode.startsWith("0o100"),
  );
  const folder = members.find(({ name }) => name.endsWith("lib/firmware/intel-ucode"))?.name;
  const names: string[] = [];
  for (const { image, metadata } of layersOf(tail)) {
    if (["schematic", "modules.dep", "embedded-config"].includes(metadata.name)) continue;
    const name = `${metadata.name}-${entry.replace(/\W+/g, "-")}`;
    const microcode: [string, number][] = folder === undefined ? [] : [[`${folder}/06-01`, MICROCODE_BYTES]];
    const own = firmware.map((file): [string, number] => [file.name, file.size]);
    const extra = metadata.name === "intel-ucode" ? microcode : metadata.name === "i915" ? own : [];
    const modes = (tail.squashfs?.[image]?.list ?? []).map(listed);
    await shop.addExtension(name, {
      "manifest.yaml": stringify({ version: "v1alpha1", metadata }),
      ...filesOf(name, tail.squashfs?.[image], extra),
    });
    await Promise.all(
      modes
        .filter(({ mode }) => mode.startsWith("-rwx"))
        .map(({ path }) => chmod(join(shop.dir, "extensions", name, "rootfs", path), 0o755)),
    );
    names.push(name);
  }
  return names;
}

/** Sizes of what is compressed, or is made of modules, are not compared; nor are numbers that follow from sizes. */
const OTHER_SIZE = /\.sqsh$|\.ko$|\/modules\.[a-z.]+$|extensions\.yaml$/;
/** What describes contents; the rest is about how one program writes tables (docs/compat.md, F5). */
const SAME_SUPERBLOCK = /^(Compression \w+|Block size|Number of (inodes|ids)|Creation or last append time)/;

/** Written by depmod from kmod 33; nothing but libkmod reads it. */
const WEAK = /\/modules\.weakdep$/;
const withoutWeak = (line: string, list: string[]): string =>
  line.replace(
    /^(Number of inodes) (\d+)$/,
    (_all, label, count) => `${label} ${Number(count) - list.filter((path) => WEAK.test(path)).length}`,
  );

const comparable = (layout: InitramfsLayout, release: string) => {
  const renamed = (text: string) => text.replaceAll(release, "RELEASE");
  return layout.segments.map((segment) => ({
    kind: segment.kind,
    padded: segment.archiveBytes && (segment.archiveBytes + (segment.zeroPadding ?? 0)) % 512,
    members: segment.members?.map(({ mtime: _clock, size, ...member }) => ({
      ...member,
      ...(OTHER_SIZE.test(member.name) ? {} : { size }),
    })),
    squashfs: Object.entries(segment.squashfs ?? {}).map(([name, { superblock, list }]) => [
      name,
      superblock.filter((line) => SAME_SUPERBLOCK.test(line)).map((line) => withoutWeak(line, list)),
      list
        .filter((line) => !WEAK.test(line))
        .map(listed)
        .map(({ size, path, ...rest }) => ({
          ...rest,
          path: renamed(path),
          // Folders have the size of their tables.
          ...(rest.mode.startsWith("d") || OTHER_SIZE.test(path) ? {} : { size }),
        })),
      list
        .filter((line) => !WEAK.test(line))
        .map((line) => line.split(" ").slice(1, 2).concat(line.split(" ").slice(3, 5))),
    ]),
    extensions: renamed(segment["extensions.yaml"] ?? ""),
  }));
};

it("come in seven", () => expect(Object.keys(RECORDED_INITRAMFS)).toHaveLength(7));

it.each(Object.entries(RECORDED_INITRAMFS))("%s is as recorded in every field", async (entry, recorded) => {
  const tail = recorded.segments.at(-1);
  const schematic = tail && layersOf(tail).find(({ metadata }) => metadata.name === "schematic")?.metadata;
  const text = schematic?.extraInfo ?? "";
  const names = await addExtensions(entry, recorded);
  const { product } = await shop.build(
    bootRecipe("initramfs", {
      version: entry.split(" ")[0] ?? "",
      schematicId: schematic?.version ?? "",
      schematicText: text,
      extensions: extensions(...names),
      embeddedConfig: parse(text).customization?.embeddedMachineConfiguration ?? null,
    }),
  );
  const stock = await readFile(join(shop.dir, "initramfs.xz"));
  const ours = describeInitramfs(await readFile(product.path), stock, shop.dir);
  expect(comparable(ours, KERNEL_RELEASE)).toEqual(comparable(recorded, RECORDED_RELEASE));
  const times = ours.segments.flatMap(({ members = [] }) => members.map(({ mtime }) => mtime));
  expect(new Set(times)).toEqual(new Set([EPOCH]));
});
