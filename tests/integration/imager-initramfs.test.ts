import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { listCpio } from "../../lib/formats/cpio.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  extensions,
  KERNEL_RELEASE,
  kernelModule,
  manifest,
  sha256,
  tool,
} from "../fixtures/imager-boot-fixture.ts";
import { noise } from "../fixtures/imager-disk-fixture.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Member {
  name: string;
  ino: number;
  mode: string;
  nlink: number;
}
interface Layout {
  initramfs: Record<
    string,
    { segments: { kind: string; members?: Member[]; squashfs?: Record<string, { list: string[] }> }[] }
  >;
}

const LABEL = "system_u:object_r:bin_t:s0";
let shop: BootWorkshop;

beforeAll(async () => {
  shop = await bootWorkshop();
  await shop.addExtension(
    "qemu-guest-agent",
    {
      "manifest.yaml": manifest("qemu-guest-agent"),
      "rootfs/usr/local/bin/qemu-ga": noise(300_000, 5),
      "rootfs/usr/local/bin/qga": { linkTo: "qemu-ga" },
    },
    { "rootfs/usr/local/bin/qemu-ga": LABEL, rootfs: LABEL },
  );
  await shop.addExtension("drbd", {
    "manifest.yaml": manifest("drbd"),
    [`rootfs/usr/lib/modules/${KERNEL_RELEASE}/extras/drbd.ko`]: kernelModule("drbd"),
  });
  await shop.addExtension("intel-ucode", {
    "manifest.yaml": manifest("intel-ucode"),
    "rootfs/usr/lib/firmware/intel-ucode/06-02": noise(1000, 2),
    "rootfs/usr/lib/firmware/intel-ucode/06-01": noise(1001, 1),
    "rootfs/usr/local/share/intel-ucode.txt": "microcode\n",
  });
  await shop.addExtension("i915", {
    "manifest.yaml": manifest("i915"),
    "rootfs/usr/lib/firmware/i915/tgl_dmc_ver2_12.bin": noise(5000, 3),
    "rootfs/usr/lib/firmware/i915/tgl_huc.bin": { linkTo: "/usr/lib/firmware/i915/tgl_dmc_ver2_12.bin" },
    "rootfs/usr/local/share/i915.txt": "firmware\n",
  });
});
afterAll(() => shop?.close());

/** Segments of an initramfs whose stock part is known. */
async function segments(path: string) {
  const bytes = await readFile(path);
  const stock = await readFile(join(shop.dir, "initramfs.xz"));
  const at = bytes.indexOf(stock);
  const tail = join(shop.dir, "tail");
  await writeFile(tail, bytes.subarray(at + stock.length));
  const magic = bytes.subarray(at + stock.length, at + stock.length + 4).toString("hex");
  await tool("sh", "-c", `${magic === "28b52ffd" ? "zstd" : "xz"} -dcq < ${tail} > ${tail}.cpio`);
  const main = await readFile(`${tail}.cpio`);
  const list = (archive: Buffer) =>
    listCpio(async (offset, length) => archive.subarray(offset, offset + length));
  const members = await list(main);
  const content = (name: string) => {
    const member = members.find((candidate) => candidate.name === name);
    return main.subarray(member?.offset, (member?.offset ?? 0) + (member?.sizeBytes ?? 0));
  };
  return {
    early: bytes.subarray(0, at),
    stockAt: at,
    magic,
    main,
    members,
    content,
    list,
    path: `${tail}.cpio`,
  };
}

async function squashfsList(image: Buffer): Promise<string[]> {
  const file = join(shop.dir, "check.sqsh");
  await writeFile(file, image);
  return (await tool("unsquashfs", "-lln", "-d", "", file)).trim().split("\n");
}

const withAll = { extensions: extensions("qemu-guest-agent", "drbd", "intel-ucode") };

describe("initramfs with three extensions", () => {
  it("G75: begins with an uncompressed archive of microcode, then the release's own bytes", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", withAll), "three");
    const { early, list, stockAt } = await segments(product.path);
    expect(early.subarray(0, 6).toString()).toBe("070701");
    const members = await list(early);
    expect(members.map(({ name }) => name)).toEqual([
      "kernel",
      "kernel/x86",
      "kernel/x86/microcode",
      "kernel/x86/microcode/GenuineIntel.bin",
    ]);
    const blob = members[3];
    expect(early.subarray(blob?.offset, (blob?.offset ?? 0) + 2001)).toEqual(
      Buffer.concat([noise(1001, 1), noise(1000, 2)]),
    );
    expect(stockAt % 512).toBe(0);
  });

  it("has the members of the recorded layout: names, inodes, modes, links", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", withAll), "three");
    const { main, members } = await segments(product.path);
    const recorded = vectorFile<Layout>("layout.json").initramfs["v1.13.0 ext3"]?.segments[2]?.members ?? [];
    expect(recorded.length).toBeGreaterThan(5);
    const inode = (offset: number, name: string) => {
      const header = offset - 110 - name.length - 1 - ((4 - ((110 + name.length + 1) % 4)) % 4);
      return Number.parseInt(main.subarray(header + 6, header + 14).toString(), 16);
    };
    const seen = members.map(({ name, mode, links, offset }) => ({
      name,
      ino: inode(offset, name),
      mode: `0o${mode.toString(8)}`,
      nlink: links,
    }));
    expect(seen).toEqual(recorded.map(({ name, ino, mode, nlink }) => ({ name, ino, mode, nlink })));
    expect(new Set(members.map(({ mtime }) => mtime))).toEqual(new Set([1559424892]));
    expect(main.length % 512).toBe(0);
  });

  it("lists layers in order with their own words, modules.dep last", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", withAll), "three");
    const { content } = await segments(product.path);
    const { layers } = parse(content("extensions.yaml").toString());
    expect(
      layers.map((layer: { image: string; metadata: { name: string } }) => [
        layer.image,
        layer.metadata.name,
      ]),
    ).toEqual([
      ["0.sqsh", "qemu-guest-agent"],
      ["1.sqsh", "drbd"],
      ["2.sqsh", "intel-ucode"],
      ["3.sqsh", "schematic"],
      ["modules.dep.sqsh", "modules.dep"],
    ]);
    expect(layers[0].metadata.version).toBe("20250812");
    expect(layers[3].metadata).toMatchObject({
      extraInfo: "customization: {}\n",
      author: "Image Factory (http://127.0.0.1:8090/)",
    });
    expect(layers[4].metadata.version).toBe(KERNEL_RELEASE);
  });

  it("keeps SELinux labels, owners and links in the file systems, and takes firmware out", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", withAll), "three");
    const { content } = await segments(product.path);
    const agent = await squashfsList(content("0.sqsh"));
    expect(agent.some((line) => /^lrwxrwxrwx 0\/0 .*\/usr\/local\/bin\/qga -> qemu-ga$/.test(line))).toBe(
      true,
    );
    expect(agent.every((line) => line.split(/\s+/)[1] === "0/0")).toBe(true);
    const labels = await tool("sqfs2tar", join(shop.dir, "check.sqsh")).catch(() => "");
    expect(labels).toContain(`SCHILY.xattr.security.selinux=${LABEL}`);
    const microcode = (await squashfsList(content("2.sqsh"))).map((line) => line.split(" ").at(-1));
    expect(microcode).toContain("/usr/lib");
    expect(microcode.join()).not.toContain("firmware");
  });

  it("knows the modules of the release and of the extension in one index", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", withAll), "three");
    const { content } = await segments(product.path);
    await writeFile(join(shop.dir, "dep.sqsh"), content("modules.dep.sqsh"));
    const dep = await tool(
      "unsquashfs",
      "-cat",
      join(shop.dir, "dep.sqsh"),
      `usr/lib/modules/${KERNEL_RELEASE}/modules.dep`,
    );
    expect(dep.trim().split("\n").sort()).toEqual([
      "extras/drbd.ko:",
      "kernel/crypto/base.ko:",
      "kernel/net/user.ko:",
    ]);
    const order = await tool(
      "unsquashfs",
      "-cat",
      join(shop.dir, "dep.sqsh"),
      `usr/lib/modules/${KERNEL_RELEASE}/modules.order`,
    );
    expect(order).toBe("kernel/crypto/base.ko\nkernel/net/user.ko\n");
  });

  it("gives equal bytes from two empty caches", async () => {
    const recipe = bootRecipe("initramfs", withAll);
    const first = await shop.build(recipe);
    const second = await shop.build(recipe);
    expect(await sha256(first.product.path)).toBe(await sha256(second.product.path));
    expect(first.product.path).not.toBe(second.product.path);
  });
});

describe("single rules", () => {
  it("G70: eleven extensions are stacked in the order of their names as text", async () => {
    const names = Array.from({ length: 11 }, (_, index) => `small-${index}`);
    for (const name of names)
      await shop.addExtension(name, { "manifest.yaml": manifest(name), "rootfs/usr/local/a": name });
    const { product } = await shop.build(bootRecipe("initramfs", { extensions: extensions(...names) }));
    const { content } = await segments(product.path);
    const { layers } = parse(content("extensions.yaml").toString());
    expect(layers.map(({ image }: { image: string }) => image)).toEqual(
      [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => `${index}.sqsh`),
    );
  });

  it("G71: an extra file beside manifest.yaml is named", async () => {
    await shop.addExtension("odd", { "manifest.yaml": manifest("odd"), "rootfs/usr/a": "a", a: "a" });
    const error = await shop
      .build(bootRecipe("initramfs", { extensions: extensions("odd") }))
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "invalid_input",
      message: 'unexpected file "a" in the extension siderolabs/odd',
    });
    expect(error).toMatchObject({
      extra: { details: { phase: "extensions", step: "Pack the extension odd" } },
    });
  });

  it("G72: files in places the checks of extension authors refuse are accepted", async () => {
    await shop.addExtension("free", {
      "manifest.yaml": manifest("free"),
      "rootfs/usr/lib64/a.so": "a",
      "rootfs/boot/vmlinuz": "b",
    });
    const { product } = await shop.build(bootRecipe("initramfs", { extensions: extensions("free") }));
    const list = await squashfsList((await segments(product.path)).content("0.sqsh"));
    expect(list.join("\n")).toContain("/boot/vmlinuz");
  });

  it("G73: an extension for other releases is refused with its range", async () => {
    await shop.addExtension("new", { "manifest.yaml": manifest("new", ">= v1.14.0"), "rootfs/usr/a": "a" });
    const build = (version: string) =>
      shop.build(bootRecipe("initramfs", { version, extensions: extensions("new") }));
    await expect(build("v1.13.9")).rejects.toThrow(
      "does not fit v1.13.9: the range of versions it declares is >= v1.14.0",
    );
    await expect(build("v1.14.0-alpha.1")).resolves.toBeTruthy();
  });

  it("G74: xz with CRC32 before 1.8, zstd from then on, inside the file systems too", async () => {
    for (const [version, magic, compression] of [
      ["v1.7.6", "fd377a58", "xz"],
      ["v1.8.0", "28b52ffd", "zstd"],
    ] as const) {
      const { product } = await shop.build(bootRecipe("initramfs", { version }));
      const parts = await segments(product.path);
      expect(parts.magic).toBe(magic);
      await squashfsList(parts.content("0.sqsh"));
      expect(await tool("unsquashfs", "-s", join(shop.dir, "check.sqsh"))).toContain(
        `Compression ${compression}`,
      );
      if (magic === "fd377a58")
        expect(await tool("xz", "-lv", "--format=xz", join(shop.dir, "tail"))).toContain("CRC32");
    }
  });

  it("leaves extraInfo out before 1.7", async () => {
    const { product } = await shop.build(bootRecipe("initramfs", { version: "v1.6.7" }));
    const { layers } = parse((await segments(product.path)).content("extensions.yaml").toString());
    expect(layers).toHaveLength(1);
    expect(layers[0].metadata.extraInfo).toBeUndefined();
  });

  it("G77: an embedded configuration comes last, readable by root only, with its label; firmware links are followed", async () => {
    const config = "apiVersion: v1alpha1\nkind: HostnameConfig\n";
    const recipe = bootRecipe("initramfs", { extensions: extensions("i915"), embeddedConfig: config });
    const { content, members, stockAt } = await segments((await shop.build(recipe)).product.path);
    expect(stockAt).toBe(0);
    const layout =
      vectorFile<Layout>("layout.json").initramfs["v1.13.0 i915 + embedded configuration"]?.segments[1];
    expect(members.map(({ name }) => name)).toEqual(layout?.members?.map(({ name }) => name));
    expect(content("usr/lib/firmware/i915/tgl_huc.bin")).toEqual(noise(5000, 3));
    const list = (await squashfsList(content("2.sqsh"))).map((line) => [
      line.slice(0, 10),
      line.split(" ").at(-1) ?? "",
    ]);
    const recorded = layout?.squashfs?.["2.sqsh"]?.list.map((line) => [
      line.slice(0, 10),
      line.split(" ").at(-1) ?? "",
    ]);
    expect(list).toEqual(recorded);
    expect(
      await tool("unsquashfs", "-cat", join(shop.dir, "check.sqsh"), "usr/local/etc/talos/config.yaml"),
    ).toBe(config);
    expect(await tool("sqfs2tar", join(shop.dir, "check.sqsh"))).toContain(
      "system_u:object_r:system_state_t:s0",
    );
  });

  it("refuses modules for another kernel and firmware links that leave the image", async () => {
    await shop.addExtension("alien", {
      "manifest.yaml": manifest("alien"),
      "rootfs/usr/lib/modules/1.2.3/extras/a.ko": kernelModule("a"),
    });
    await expect(shop.build(bootRecipe("initramfs", { extensions: extensions("alien") }))).rejects.toThrow(
      `the extension alien has kernel modules for 1.2.3, the release runs ${KERNEL_RELEASE}`,
    );
    await shop.addExtension("escape", {
      "manifest.yaml": manifest("escape"),
      "rootfs/usr/lib/firmware/a": { linkTo: "../../../../../../etc/passwd" },
    });
    await expect(shop.build(bootRecipe("initramfs", { extensions: extensions("escape") }))).rejects.toThrow(
      "points to nothing",
    );
  });
});
