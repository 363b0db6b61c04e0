import { lstat, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createRunTool } from "../../../lib/exec/run.ts";
import { extractLayers } from "../../../lib/oci/layer-extract.ts";
import type { ExtractedTree, ExtractOptions } from "../../../lib/oci/types.ts";
import { type Compression, compress, type LayerEntry, makeLayer } from "../../fixtures/fake-image.ts";
import { failure, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

afterEach(removeScratch);
const run = createRunTool();

async function unpackRaw(layers: Buffer[], options?: ExtractOptions): Promise<ExtractedTree> {
  const scratch = await scratchFolder();
  const files: string[] = [];
  for (const [index, layer] of layers.entries()) {
    const file = join(scratch, `${index}.layer`);
    await writeFile(file, layer);
    files.push(file);
  }
  const tree = await extractLayers("a/b@sha256:1", files, join(scratch, "tree"), run, options);
  expect((await readdir(scratch)).filter((name) => name.endsWith(".tar"))).toEqual([]);
  return tree;
}

async function unpack(layers: LayerEntry[][], options?: ExtractOptions): Promise<ExtractedTree> {
  return unpackRaw(await Promise.all(layers.map((layer) => makeLayer(layer))), options);
}

async function list(dir: string, below = ""): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(dir, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    found.push(entry.isDirectory() ? `${path}/` : path);
    if (entry.isDirectory()) found.push(...(await list(dir, path)));
  }
  return found.sort();
}

const modeOf = async (tree: ExtractedTree, path: string) => (await lstat(join(tree.dir, path))).mode & 0o7777;

describe("layers", () => {
  test.each<Compression>(["none", "gzip", "zstd"])(
    "are read when compressed with %s",
    async (compression) => {
      const content = "x".repeat(300_000);
      const layer = await makeLayer([{ name: "rootfs/big", content }], compression);
      const tree = await unpackRaw([layer]);
      expect(await readFile(join(tree.dir, "rootfs/big"), "utf8")).toBe(content);
    },
  );

  test("may hold several gzip members", async () => {
    const tar = await makeLayer([{ name: "a", content: "y".repeat(5000) }], "none");
    const members = [tar.subarray(0, 1000), tar.subarray(1000)].map((part) => compress(part, "gzip"));
    const tree = await unpackRaw([Buffer.concat(members)]);
    expect((await readFile(join(tree.dir, "a"))).byteLength).toBe(5000);
  });

  test("lie over each other, the upper ones win and may change kinds", async () => {
    const tree = await unpack([
      [
        { name: "file", content: "low" },
        { name: "dir", type: "directory" },
        { name: "dir/inner", content: "1" },
        { name: "link", type: "symlink", linkname: "dir" },
      ],
      [
        { name: "./file", content: "high" },
        { name: "dir", content: "now a file" },
        { name: "link", type: "directory" },
        { name: "link/below", content: "2" },
      ],
    ]);
    expect(await list(tree.dir)).toEqual(["dir", "file", "link/", "link/below"]);
    expect(await readFile(join(tree.dir, "file"), "utf8")).toBe("high");
    expect(await readFile(join(tree.dir, "dir"), "utf8")).toBe("now a file");
  });

  test("hide what lies below by whiteouts, wherever these stand in the layer", async () => {
    const tree = await unpack([
      [
        { name: "a/one", content: "1" },
        { name: "a/two", content: "2" },
        { name: "b/one", content: "1" },
        { name: "b/sub/two", content: "2" },
        { name: "c/gone/deep/file", content: "3" },
      ],
      [
        { name: "a/.wh.one" },
        { name: "b/new", content: "n" },
        { name: "b/sub/new", content: "n" },
        { name: "b/.wh..wh..opq" },
        { name: "c/.wh.gone" },
        { name: "x/.wh.never-there" },
        { name: ".wh..wh.plnk" },
      ],
    ]);
    expect(await list(tree.dir)).toEqual(["a/", "a/two", "b/", "b/new", "b/sub/", "b/sub/new", "c/"]);
  });

  test("do not hide their own files by a whiteout of the same name", async () => {
    const tree = await unpack([
      [{ name: "d/old", content: "1" }],
      [{ name: "d", type: "directory" }, { name: "d/new", content: "2" }, { name: ".wh.d" }],
    ]);
    expect(await list(tree.dir)).toEqual(["d/", "d/new"]);
  });

  test("give modes as they are for files, owner-accessible for folders, 0700 for folders nobody names", async () => {
    const tree = await unpack([
      [
        { name: "named", type: "directory", mode: 0o1055 },
        { name: "named/plain", mode: 0o664 },
        { name: "made/by/need", mode: 0o4755 },
        { name: "readonly", mode: 0o444 },
      ],
      [{ name: "readonly", mode: 0o400, content: "2" }],
    ]);
    expect(await modeOf(tree, "named")).toBe(0o755);
    expect(await modeOf(tree, "named/plain")).toBe(0o664);
    expect(await modeOf(tree, "made")).toBe(0o700);
    expect(await modeOf(tree, "made/by")).toBe(0o700);
    expect(await modeOf(tree, "made/by/need")).toBe(0o4755);
    expect(await modeOf(tree, "readonly")).toBe(0o400);
  });

  test("give SELinux labels by path, and forget them with what they were on", async () => {
    const label = (value: string) => ({ "SCHILY.xattr.security.selinux": value });
    const tree = await unpack([
      [
        { name: "keep", pax: label("system_u:object_r:lib_t:s0\0") },
        { name: "dir/", type: "directory", pax: label("system_u:object_r:dir_t:s0") },
        { name: "dir/gone", pax: label("x") },
        { name: "over", pax: label("x") },
        { name: "hard", type: "link", linkname: "keep" },
      ],
      [{ name: "dir/.wh.gone" }, { name: "over" }],
    ]);
    expect(tree.selinuxLabels).toEqual({
      keep: "system_u:object_r:lib_t:s0",
      hard: "system_u:object_r:lib_t:s0",
      dir: "system_u:object_r:dir_t:s0",
    });
  });

  test("turn hard links into copies, also of files in lower layers", async () => {
    const tree = await unpack([
      [{ name: "bin/tool", content: "tool", mode: 0o755 }],
      [{ name: "bin/alias", type: "link", linkname: "/bin/tool" }],
    ]);
    expect(await readFile(join(tree.dir, "bin/alias"), "utf8")).toBe("tool");
    expect(await modeOf(tree, "bin/alias")).toBe(0o755);
    expect((await lstat(join(tree.dir, "bin/alias"))).nlink).toBe(1);
  });

  test("keep symbolic links verbatim, absolute ones included", async () => {
    const tree = await unpack([
      [
        { name: "usr/lib/x", type: "symlink", linkname: "../../etc/x" },
        { name: "etc/y", type: "symlink", linkname: "/usr/share/y" },
      ],
    ]);
    expect(await readlink(join(tree.dir, "usr/lib/x"))).toBe("../../etc/x");
    expect(await readlink(join(tree.dir, "etc/y"))).toBe("/usr/share/y");
  });

  test("write only what passes the filter, and need nothing else", async () => {
    const filter = (path: string) => path.startsWith("usr/install/amd64/");
    const tree = await unpack(
      [
        [
          { name: "dev/null", type: "character-device" },
          { name: "usr/install/amd64/vmlinuz", content: "k" },
          { name: "usr/install/amd64/old", content: "o" },
          { name: "usr/install/arm64/vmlinuz", content: "k" },
        ],
        [{ name: "usr/install/amd64/.wh.old" }, { name: "etc/passwd", content: "p" }],
      ],
      { filter },
    );
    expect(await list(tree.dir)).toEqual([
      "usr/",
      "usr/install/",
      "usr/install/amd64/",
      "usr/install/amd64/vmlinuz",
    ]);
  });

  test("take an absolute name from the top of the tree", async () => {
    const tree = await unpack([[{ name: "/etc/motd", content: "hi" }]]);
    expect(await list(tree.dir)).toEqual(["etc/", "etc/motd"]);
  });
});

describe("hostile layers", () => {
  test.each<[string, LayerEntry[], string]>([
    ["climb by name", [{ name: "../out", content: "x" }], "leaves the tree"],
    ["climb in the middle", [{ name: "a/../../out", content: "x" }], "leaves the tree"],
    ["climb by PAX path", [{ name: "ok", pax: { path: "../../out" } }], "leaves the tree"],
    [
      "write through a link",
      [{ name: "l", type: "symlink", linkname: "/tmp" }, { name: "l/out" }],
      "not a folder",
    ],
    [
      "write through a relative link",
      [{ name: "d/l", type: "symlink", linkname: "." }, { name: "d/l/x/y" }],
      "not a folder",
    ],
    [
      "make folders through a link",
      [
        { name: "l", type: "symlink", linkname: "/tmp" },
        { name: "l/d", type: "directory" },
      ],
      "not a folder",
    ],
    ["write below a file", [{ name: "f" }, { name: "f/x" }], "not a folder"],
    ["climb by link target", [{ name: "a/l", type: "symlink", linkname: "../../etc/passwd" }], "link target"],
    ["climb by hard link", [{ name: "h", type: "link", linkname: "../../etc/passwd" }], "leaves the tree"],
    ["link to what is not there", [{ name: "h", type: "link", linkname: "etc/passwd" }], "not there"],
    [
      "link to a folder",
      [
        { name: "d", type: "directory" },
        { name: "h", type: "link", linkname: "d" },
      ],
      "not there",
    ],
    [
      "link through a link",
      [
        { name: "l", type: "symlink", linkname: "/etc" },
        { name: "h", type: "link", linkname: "l/passwd" },
      ],
      "not a folder",
    ],
    ["bring a block device", [{ name: "dev/sda", type: "block-device" }], "block-device"],
    ["bring a character device", [{ name: "dev/mem", type: "character-device" }], "character-device"],
    ["bring a pipe", [{ name: "p", type: "fifo" }], "fifo"],
    ["hide the parent folder", [{ name: "a/.wh..." }], "hides no name"],
    ["hide nothing", [{ name: "a/.wh." }], "hides no name"],
    [
      "hide through a link",
      [{ name: "l", type: "symlink", linkname: "/tmp" }, { name: "l/.wh.x" }],
      "not a folder",
    ],
    ["replace the top", [{ name: "./", type: "symlink", linkname: "/tmp" }], "top of the tree"],
    ["bring a sparse file", [{ name: "s", pax: { "GNU.sparse.major": "1" } }], "sparse"],
  ])("that %s are refused and named", async (_what, entries, reason) => {
    const error = await failure(unpack([entries]));
    expect(error.code).toBe("source_invalid");
    expect(error.extra.retryable).toBe(false);
    expect(error.message).toContain("a/b@sha256:1");
    expect(error.message).toContain(reason);
  });

  test("cannot write through a link of a lower layer", async () => {
    const error = await failure(
      unpack([[{ name: "l", type: "symlink", linkname: "/tmp" }], [{ name: "l/out" }]]),
    );
    expect(error.message).toContain("l is not a folder");
  });

  test.each<Compression>(["none", "gzip", "zstd"])(
    "that unpack to too much are stopped (%s)",
    async (compression) => {
      const layer = await makeLayer([{ name: "bomb", content: Buffer.alloc(64 * 1024 * 1024) }], compression);
      const error = await failure(unpackRaw([layer], { maxBytes: 1024 * 1024 }));
      expect(error.code).toBe("too_large");
      expect(error.message).toContain("more than 1048576 bytes");
    },
  );

  test("that multiply by hard links are stopped", async () => {
    const links = Array.from({ length: 50 }, (_, index) => ({
      name: `l${index}`,
      type: "link",
      linkname: "a",
    }));
    const layers = [[{ name: "a", content: Buffer.alloc(100_000) }, ...links]];
    expect((await failure(unpack(layers, { maxBytes: 1_000_000 }))).code).toBe("too_large");
  });

  test("with too many entries are stopped", async () => {
    const entries = Array.from({ length: 11 }, (_, index) => ({ name: `f${index}` }));
    expect((await failure(unpack([entries], { maxEntries: 10 }))).message).toContain(
      "more than 10 layer entries",
    );
  });

  test.each<[string, () => Promise<Buffer>]>([
    ["cut gzip", async () => (await makeLayer([{ name: "a", content: "b".repeat(9000) }])).subarray(0, 60)],
    [
      "cut zstd",
      async () => (await makeLayer([{ name: "a", content: "b".repeat(9000) }], "zstd")).subarray(0, 40),
    ],
    [
      "cut tar",
      async () => (await makeLayer([{ name: "a", content: "b".repeat(9000) }], "none")).subarray(0, 3000),
    ],
    // RFC 8878 §3.1.1.1.2: window descriptor a0 is 2^30 bytes; the frame holds one empty block.
    ["zstd that wants a gigabyte of memory", async () => Buffer.from("28b52ffd00a0010000", "hex")],
    ["no tar", async () => Buffer.from("this is not a tar archive".repeat(100))],
    ["gzip of no tar", async () => compress(Buffer.from("x".repeat(2000)), "gzip")],
  ])("that are damaged (%s) are source_invalid", async (_what, bytes) => {
    const error = await failure(unpackRaw([await bytes()]));
    expect(error.code).toBe("source_invalid");
    expect(error.message).toContain("a/b@sha256:1");
  });

  test("can be left at any time", async () => {
    const layer = await makeLayer([{ name: "big", content: Buffer.alloc(200 * 1024 * 1024) }]);
    const error = await failure(unpackRaw([layer], { signal: AbortSignal.timeout(30) }));
    expect(error.code).toBe("cancelled");
  });
});
