/** The parts of the sample release that need no downloads: programs, archives, marker lines, overlay installers. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseSampleMarkers } from "../../../scripts/boot/markers.ts";
import {
  carrierProgram,
  scriptProgram,
  standaloneScriptProgram,
} from "../../../scripts/sample-release/carrier.ts";
import { newcArchive } from "../../../scripts/sample-release/cpio.ts";
import { RELEASES } from "../../../scripts/sample-release/releases.ts";
import { tarOf, text } from "../../../scripts/sample-release/tree.ts";

const dir = mkdtempSync(join(tmpdir(), "casthouse-sample-test-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const BUSYBOX = "/bin/busybox";

function run(program: Buffer, args: string[], input = "") {
  const path = join(dir, "program");
  rmSync(path, { force: true });
  writeFileSync(path, program, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync(path, args, { input, encoding: "utf8" });
  return { status, stdout, stderr };
}

if (process.arch === "x64")
  describe("carrier programs for amd64", () => {
    it("make their calls in order and end with the code given", () => {
      const program = carrierProgram("amd64", [
        { name: "write", args: [1, { bytes: Buffer.from("one ") }, 4] },
        { name: "close", args: [99] },
        { name: "write", args: [1, { bytes: Buffer.from("two\n") }, 4] },
        { name: "exit", args: [7] },
      ]);
      expect(run(program, [])).toMatchObject({ status: 7, stdout: "one two\n" });
    });

    it("end with 127 when no call takes over", () => {
      expect(run(carrierProgram("amd64", []), []).status).toBe(127);
    });

    it("hand their first argument and standard input to the script", () => {
      const script = 'echo "$0 got $1"; cat; exit 3';
      const program = scriptProgram("amd64", readFileSync(BUSYBOX), "board", script);
      expect(run(program, ["install"], "words")).toMatchObject({
        status: 3,
        stdout: "board got install\nwords",
      });
      expect(run(program, []).stdout).toBe("board got \n");
    });

    it("run the programs of busybox where there is no /proc", () => {
      const program = join(dir, "standalone");
      const script = 'mkdir /tmp/x && cat >/tmp/x/y && cp /tmp/x/y /tmp/z && echo "$1 $(cat /tmp/z)"';
      const options = { name: "board", script, programs: ["cat", "cp", "mkdir"] };
      writeFileSync(program, standaloneScriptProgram("amd64", readFileSync(BUSYBOX), options), {
        mode: 0o755,
      });
      const args = [
        "--ro-bind",
        program,
        "/program",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "/program",
        "install",
      ];
      expect(spawnSync("bwrap", args, { input: "words", encoding: "utf8" })).toMatchObject({
        status: 0,
        stdout: "install words\n",
      });
    });
  });

describe("carrier programs", () => {
  it("have the ELF header of their architecture and the same bytes each time", () => {
    for (const [arch, machine] of [
      ["amd64", 62],
      ["arm64", 183],
    ] as const) {
      const program = carrierProgram(arch, [{ name: "exit", args: [0] }]);
      expect(program.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
      expect(program.readUInt16LE(18)).toBe(machine);
      expect(program.equals(carrierProgram(arch, [{ name: "exit", args: [0] }]))).toBe(true);
    }
  });
});

describe("archives of the sample", () => {
  it("hold '.', then the files sorted by name, in whole blocks", () => {
    const archive = newcArchive(
      [
        { name: "rootfs.sqsh", mode: 0o644, bytes: Buffer.from("hsqs") },
        { name: "init", mode: 0o755, bytes: Buffer.from("ELF") },
      ],
      1_559_424_892,
    );
    const names = [...archive.toString("latin1").matchAll(/070701[0-9A-Fa-f]{104}([^\0]+)/g)].map(
      ([, name]) => name,
    );
    expect(names).toEqual([".", "init", "rootfs.sqsh", "TRAILER!!!"]);
    expect(archive.length % 512).toBe(0);
  });

  it("list folders before their content and carry SELinux labels", async () => {
    const tar = await tarOf(
      new Map([
        ["b/c", text("x")],
        ["a", { bytes: Buffer.from("y"), selinux: "system_u:object_r:t:s0" }],
      ]),
    );
    const file = join(dir, "tree.tar");
    writeFileSync(file, tar);
    const listed = spawnSync("tar", ["-tf", file], { encoding: "utf8" }).stdout.trim().split("\n");
    expect(listed).toEqual(["a", "b/", "b/c"]);
    expect(tar.includes("SCHILY.xattr.security.selinux=system_u:object_r:t:s0\n")).toBe(true);
  });
});

describe("sample releases", () => {
  it("follow the rules of their version", () => {
    const [old, ten] = RELEASES;
    expect(old).toMatchObject({
      tag: "v1.9.5",
      installer: "installer",
      libraryFolder: "lib",
      since111: false,
    });
    expect(ten).toMatchObject({
      tag: "v1.10.7",
      installer: "installer-base",
      libraryFolder: "usr/lib",
      since111: false,
    });
    expect(RELEASES.at(-1)).toMatchObject({ tag: "v1.14.0-beta.1", tiers: true, since111: true });
  });
});

describe("marker lines", () => {
  const line = (fact: string): string => `casthouse-sample: ${fact}\r\n`;
  it("are read among the words of firmware and kernel", () => {
    const markers = parseSampleMarkers(
      `SeaBIOS\r\n[    1.0] kernel\r\n${line("version v1.13.2")}${line("boot mode uefi secureboot=off")}` +
        line("pcr 11 sha256 0a1b") +
        line("cmdline a=1 b") +
        line("schematic none") +
        line("extension 0.sqsh drbd 9.3") +
        line("file drbd /usr/lib/x.ko 12 ab") +
        line("module drbd loaded") +
        line("disk sector 4096") +
        line("meta disk 0xa one\\ntwo\\\\n") +
        line("meta environment 0xb x") +
        line("boot ok"),
    );
    expect(markers).toMatchObject({
      version: "v1.13.2",
      bootMode: "uefi",
      secureBoot: "off",
      pcr11: { sha256: "0a1b" },
      sectorBytes: 4096,
      cmdline: "a=1 b",
      schematic: null,
      ok: true,
      extensions: [{ image: "0.sqsh", name: "drbd", version: "9.3" }],
      files: [{ extension: "drbd", path: "/usr/lib/x.ko", sizeBytes: 12, sha256: "ab" }],
      modules: [{ name: "drbd", loaded: true }],
      metaDisk: { "0xa": "one\ntwo\\n" },
      metaEnvironment: { "0xb": "x" },
    });
  });

  it("tell why a first stage gave up", () => {
    const markers = parseSampleMarkers(line("boot failed: layer 0.sqsh (drbd) cannot be mounted"));
    expect(markers).toMatchObject({ ok: false, failure: "layer 0.sqsh (drbd) cannot be mounted" });
  });
});
