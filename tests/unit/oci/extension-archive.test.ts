import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { runTool } from "../../../lib/exec/run.ts";
import { packExtension } from "../../../lib/imager/extension/pack.ts";
import type { ExtensionTree, UnpackLimits } from "../../../lib/imager/extension/types.ts";
import { unpackExtension } from "../../../lib/oci/extension-archive.ts";
import { writeChaosExtension } from "../../fixtures/chaos-extension.ts";
import { after, content, good, HOSTILE } from "../../fixtures/hostile-archives.ts";
import { pax, paxRecord, rawTar } from "../../fixtures/raw-tar.ts";
import { failure, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

afterEach(removeScratch);

const LIMITS: UnpackLimits = { maxBytes: 8 << 20, maxEntries: 500 };
const signal = new AbortController().signal;
async function unpack(bytes: Buffer, limits = LIMITS): Promise<ExtensionTree> {
  const scratch = await scratchFolder();
  await writeFile(join(scratch, "sent"), bytes);
  try {
    return await unpackExtension(join(scratch, "sent"), join(scratch, "tree"), limits, {
      run: runTool,
      signal,
    });
  } finally {
    expect((await readdir(scratch)).filter((name) => name.endsWith(".tar"))).toEqual([]);
  }
}

describe("an archive that somebody sends", () => {
  it.each(HOSTILE)("is refused with %s", async (_, bytes, message) => {
    const error = await failure(unpack(bytes));
    expect(error.code).toBe("invalid_input");
    expect(error.message).toMatch(message);
    expect(error.extra.hint).toMatch(/casthouse extension pack/);
  });

  it("is refused when it unpacks to more than it may, by gzip, zstd and hard links", async () => {
    const zeros = rawTar([
      { name: "a", content: Buffer.alloc(7 << 20) },
      { name: "b", content: Buffer.alloc(7 << 20) },
    ]);
    const zstd = execFileSync("zstd", ["-q", "-c"], { input: zeros, maxBuffer: 1 << 30 });
    const links = rawTar([
      { name: "a", content: Buffer.alloc(1 << 20) },
      ...Array.from({ length: 20 }, (_, index) => ({ name: `l${index}`, type: "1", linkTo: "a" })),
    ]);
    for (const bytes of [zeros, gzipSync(zeros), zstd, links]) {
      const error = await failure(unpack(bytes));
      expect(error.code).toBe("too_large");
      expect(error.message).toBe("The archive unpacks to more than 8388608 bytes");
    }
  });

  it("is refused when it holds more entries than it may", async () => {
    const members = Array.from({ length: 501 }, (_, index) => ({ name: `f${index}` }));
    expect(await failure(unpack(rawTar(members)))).toMatchObject({
      code: "too_large",
      message: "The archive holds more than 500 files and folders",
    });
  });

  it("stops when nobody waits any more", async () => {
    const scratch = await scratchFolder();
    await writeFile(join(scratch, "sent"), after());
    const options = { run: runTool, signal: AbortSignal.abort() };
    const work = unpackExtension(join(scratch, "sent"), join(scratch, "tree"), LIMITS, options);
    expect((await failure(work)).code).toBe("cancelled");
  });

  it("is unpacked with links, hard links as copies, labels, long names and a comment of git", async () => {
    const label = "system_u:object_r:lib_t:s0";
    const long = `rootfs/${"größe/".repeat(20)}end`;
    const tree = await unpack(
      rawTar([
        { type: "g", content: paxRecord("comment", "0123abcd") },
        ...good,
        pax(["SCHILY.xattr.security.selinux", label], ["mtime", "1.5"]),
        { name: "rootfs/usr/local/a", content, mode: 0o4755 },
        { name: "rootfs/usr/local/h", type: "1", linkTo: "rootfs/usr/local/a" },
        { name: "rootfs/usr/local/l", type: "2", linkTo: "/etc/os-release" },
        { name: "rootfs/secret", content, mode: 0 },
        pax(["path", long]),
        { name: "short", content },
        { type: "L", content: `${long}2\0` },
        { name: "short", content },
      ]),
    );
    const mode = async (path: string) => ((await lstat(join(tree.dir, path))).mode & 0o7777).toString(8);
    expect(tree.selinuxLabels).toEqual({ "rootfs/usr/local/a": label, "rootfs/usr/local/h": label });
    expect(await mode("rootfs/usr/local/h")).toBe("4755");
    expect(await mode("rootfs/usr/local")).toBe("755");
    expect(await mode("rootfs/secret")).toBe("400");
    expect(await readlink(join(tree.dir, "rootfs/usr/local/l"))).toBe("/etc/os-release");
    for (const path of [long, `${long}2`]) expect(await readFile(join(tree.dir, path), "utf8")).toBe(content);
  });

  it("may be what tar writes in any of its formats", async () => {
    const dir = await writeChaosExtension(await scratchFolder(), { version: "1.0.0" });
    for (const format of ["gnu", "oldgnu", "pax", "ustar"]) {
      const bytes = execFileSync("tar", ["-c", `--format=${format}`, "-C", dir, "."], { maxBuffer: 1 << 30 });
      const zstd = execFileSync("zstd", ["-q", "-c"], { input: bytes });
      for (const sent of [bytes, gzipSync(bytes), zstd]) {
        const tree = await unpack(sent);
        expect((await readdir(tree.dir)).sort()).toEqual(["manifest.yaml", "rootfs"]);
      }
    }
  });
});

describe("packing an extension", () => {
  it("gives the same bytes whatever the folder's times, umask and order, and again after unpacking", async () => {
    const one = await writeChaosExtension(join(await scratchFolder(), "one"), { version: "1.0.0" });
    const two = await writeChaosExtension(join(await scratchFolder(), "two"), { version: "1.0.0" });
    await chmod(join(two, "manifest.yaml"), 0o664);
    await chmod(join(two, "rootfs/usr"), 0o775);
    const out = await scratchFolder();
    const packed = await packExtension({ dir: one }, join(out, "one.tar.gz"), signal);
    const again = await packExtension({ dir: two }, join(out, "two.tar.gz"), signal);
    const bytes = await readFile(packed.file);
    expect(bytes.equals(await readFile(again.file))).toBe(true);
    const tree = await unpack(bytes);
    const third = await packExtension(tree, join(out, "three.tar.gz"), signal);
    expect({ ...third, file: "" }).toEqual({ ...packed, file: "" });
    // The tar inside is the same on every machine and with every Node.
    expect(packed.diffId).toBe("sha256:8c720244a8e12d5697e13629d0a6497959f45045982f70b8f70c8a9091ef21c9");
  });

  it("keeps links and labels, and leaves out what stands beside manifest.yaml and rootfs", async () => {
    const dir = await writeChaosExtension(await scratchFolder(), { version: "1.0.0" });
    await mkdir(join(dir, ".git"));
    await symlink("containers", join(dir, "rootfs/usr/local/lib/link"));
    const labels = { "rootfs/usr/local/lib": "system_u:object_r:lib_t:s0" };
    const packed = await packExtension(
      { dir, selinuxLabels: labels },
      join(await scratchFolder(), "a"),
      signal,
    );
    const tree = await unpack(await readFile(packed.file));
    expect((await readdir(tree.dir)).sort()).toEqual(["manifest.yaml", "rootfs"]);
    expect(await readlink(join(tree.dir, "rootfs/usr/local/lib/link"))).toBe("containers");
    expect(tree.selinuxLabels).toEqual(labels);
  });
});
