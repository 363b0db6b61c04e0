import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extract } from "tar-stream";
import { describe, expect, it } from "vitest";
import { TAR_END_BYTES, type TarMember, tarHeader, tarPaddingBytes } from "../../../lib/formats/tar.ts";

const archive = (members: TarMember[]): Buffer =>
  Buffer.concat([
    ...members.flatMap((member) => [
      tarHeader(member),
      Buffer.alloc(member.sizeBytes, "x"),
      Buffer.alloc(tarPaddingBytes(member.sizeBytes)),
    ]),
    Buffer.alloc(TAR_END_BYTES),
  ]);

async function read(bytes: Buffer) {
  const reader = extract();
  reader.end(bytes);
  const found: { name: string; type: unknown; mode: unknown; size: unknown; mtime: number }[] = [];
  for await (const entry of reader) {
    const { name, type, mode, size, mtime } = entry.header;
    found.push({ name, type, mode, size, mtime: mtime?.getTime() ?? -1 });
    entry.resume();
  }
  return found;
}

const file = (name: string, sizeBytes = 5, mode = 0o644): TarMember => ({
  name,
  kind: "file",
  mode,
  sizeBytes,
});
const NAMES = [
  "usr/install/amd64/vmlinuz.efi",
  `sha256:${"a".repeat(64)}`,
  `${"folder/".repeat(20)}${"n".repeat(99)}`,
  `${"d".repeat(150)}/${"n".repeat(100)}`,
  "n".repeat(101),
  `${"d".repeat(156)}/name`,
  "overlay/artifacts/größe.dtb",
  `${"ü".repeat(60)}/${"long/".repeat(60)}end`,
];

describe("tar headers", () => {
  it("give back names of every length and alphabet", async () => {
    const members = NAMES.map((name, index) => file(name, index * 300));
    expect(await read(archive(members))).toEqual(
      members.map(({ name, sizeBytes, mode }) => ({ name, type: "file", mode, size: sizeBytes, mtime: 0 })),
    );
  });

  it("are read by tar without a complaint, with owner 0 and no time", () => {
    const dir = mkdtempSync(join(tmpdir(), "tar-"));
    try {
      writeFileSync(join(dir, "a.tar"), archive(NAMES.map((name) => file(name, 3, 0o755))));
      const listing = execFileSync("tar", ["--utc", "--numeric-owner", "-tvf", join(dir, "a.tar")], {
        encoding: "utf8",
        env: { ...process.env, LC_ALL: "C.UTF-8" },
      });
      expect(
        listing
          .trim()
          .split("\n")
          .map((line) => line.replace(/\s+/g, " ")),
      ).toEqual(NAMES.map((name) => `-rwxr-xr-x 0/0 3 1970-01-01 00:00 ${name}`));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it("name a folder without a slash", async () => {
    const [folder] = await read(
      archive([{ name: "overlay/artifacts", kind: "folder", mode: 0o755, sizeBytes: 0 }]),
    );
    expect(folder).toMatchObject({ name: "overlay/artifacts", type: "directory", mode: 0o755 });
  });

  it("carry links and records, also those that the plain header has no room for", async () => {
    const label = { "SCHILY.xattr.security.selinux": "system_u:object_r:lib_t:s0" };
    const far = `/usr/local/${"größe/".repeat(30)}end`;
    const members: TarMember[] = [
      { name: "near", kind: "link", mode: 0o777, sizeBytes: 0, linkTo: "../lib/x.so" },
      { name: "far", kind: "link", mode: 0o777, sizeBytes: 0, linkTo: far },
      { ...file("labelled"), records: label },
    ];
    const reader = extract();
    reader.end(archive(members));
    const found: unknown[] = [];
    for await (const entry of reader) {
      const { name, type, linkname, pax } = entry.header;
      found.push([name, type, linkname, pax]);
      entry.resume();
    }
    expect(found).toEqual([
      ["near", "symlink", "../lib/x.so", null],
      ["far", "symlink", far, { linkpath: far }],
      ["labelled", "file", null, label],
    ]);
  });

  it("refuse what eleven octal digits cannot hold", () => {
    expect(() => tarHeader(file("large", 8 * 1024 ** 3))).toThrow(/too large/);
  });
});
