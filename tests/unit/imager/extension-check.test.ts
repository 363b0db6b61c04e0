import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { extensionArchitectures } from "../../../lib/imager/extension/architecture.ts";
import { checkExtension } from "../../../lib/imager/extension/check.ts";
import { BreakableTree } from "../../fixtures/breakable-tree.ts";
import { BROKEN_FILES, KERNEL, RELEASE } from "../../fixtures/broken-extensions.ts";
import { BROKEN_SERVICES } from "../../fixtures/broken-services.ts";
import { CHAOS_PROGRAM, CHAOS_SERVICE, writeChaosExtension } from "../../fixtures/chaos-extension.ts";
import { dynamicElf, kernelModule, MACHINES } from "../../fixtures/elf-files.ts";
import { staticProgram } from "../../fixtures/static-program.ts";

const scratch = mkdtempSync(join(tmpdir(), "casthouse-check-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const BROKEN = [...BROKEN_FILES, ...BROKEN_SERVICES];

let count = 0;
async function goodTree(): Promise<BreakableTree> {
  count += 1;
  return new BreakableTree(await writeChaosExtension(join(scratch, String(count)), { version: "1.0.0" }));
}

const ROOT = "rootfs/usr/local/lib/containers/chaos-daemon";
const check = (tree: BreakableTree, release: typeof RELEASE | null = RELEASE) =>
  checkExtension({ dir: tree.dir }, { arch: "amd64", release });

describe("an extension without fault", () => {
  it("gives no finding, and says what it brings", async () => {
    const report = await check(await goodTree());
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({
      arch: "amd64",
      talos: "v1.13.2",
      files: 3,
      kernels: [],
      metadata: { name: "chaos-daemon", version: "1.0.0" },
      services: [
        {
          name: "chaos-daemon",
          environment: ["CHAOS_LEVEL=low"],
          environmentFile: null,
          mounts: [
            { source: "/run", destination: "/run" },
            { source: "/sys", destination: "/host/sys" },
          ],
        },
      ],
    });
  });

  it("may have programs with a loader and libraries of its own, found in all the ways that loaders know", async () => {
    const tree = await goodTree();
    const loader = "/lib64/ld-linux-x86-64.so.2";
    tree.put(`${ROOT}/usr/lib/x86_64-linux-gnu/ld.so`, dynamicElf({}), 0o755);
    tree.link(`${ROOT}${loader}`, "/usr/lib/x86_64-linux-gnu/ld.so");
    tree.put(`${ROOT}/etc/ld.so.conf.d/own.conf`, "/opt/conf\n");
    for (const path of [
      "usr/lib/x86_64-linux-gnu/libc.so.6",
      "opt/conf/b.so",
      "opt/run/c.so",
      "opt/r/d.so",
      "env/e.so",
    ])
      tree.put(`${ROOT}/${path}`, dynamicElf({}));
    tree.edit(`rootfs/${CHAOS_SERVICE}`, "- CHAOS_LEVEL=low", "- LD_LIBRARY_PATH=/env");
    const needed = ["libc.so.6", "b.so", "c.so", "d.so", "e.so"];
    const shape = { interpreter: loader, needed, runPath: "$ORIGIN/opt/run", rpath: "/opt/r" };
    tree.put(`rootfs/${CHAOS_PROGRAM}`, dynamicElf(shape), 0o755);
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may use musl, whose loader is its C library", async () => {
    const tree = await goodTree();
    tree.put(`${ROOT}/lib/ld-musl-x86_64.so.1`, dynamicElf({}), 0o755);
    const needed = ["libc.musl-x86_64.so.1", "libpthread.so"];
    const program = dynamicElf({ interpreter: "/lib/ld-musl-x86_64.so.1", needed });
    tree.put(`rootfs/${CHAOS_PROGRAM}`, program, 0o755);
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may take its libraries from the machine by a mount, which is worth a warning", async () => {
    const tree = await goodTree();
    tree.edit(`rootfs/${CHAOS_SERVICE}`, "/host/sys", "/lib64");
    tree.put(`rootfs/${CHAOS_PROGRAM}`, dynamicElf({ interpreter: "/lib64/ld.so" }), 0o755);
    expect((await check(tree)).findings.map(({ code, severity }) => [code, severity])).toEqual([
      ["system-interpreter", "warning"],
    ]);
  });

  it("may start and load what it brings for the machine, seen through mounts", async () => {
    const tree = await goodTree();
    tree.edit(
      `rootfs/${CHAOS_SERVICE}`,
      "- source: /sys\n      destination: /host/sys",
      "- source: /usr/local\n      destination: /own",
    );
    tree.edit(`rootfs/${CHAOS_SERVICE}`, "./chaos-daemon", "/own/bin/daemon");
    tree.put("rootfs/usr/local/bin/daemon", staticProgram("amd64", "x"), 0o755);
    tree.put(`${ROOT}/lib64/ld.so`, dynamicElf({}), 0o755);
    tree.put("rootfs/usr/local/lib/own.so", dynamicElf({}));
    const shape = { interpreter: "/lib64/ld.so", needed: ["own.so"], runPath: "/own/lib" };
    tree.put(`rootfs/${CHAOS_PROGRAM}`, dynamicElf(shape), 0o755);
    tree.link(`${ROOT}/etc/config`, "/own/etc/config");
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may be the root of a distribution, with links into what runs", async () => {
    const tree = await goodTree();
    tree.put(`${ROOT}/usr/lib/ld-musl-x86_64.so.1`, dynamicElf({}), 0o755);
    tree.link(`${ROOT}/lib`, "usr/lib");
    tree.link(`${ROOT}/etc/mtab`, "../proc/mounts");
    tree.link(`${ROOT}/var/run`, "/run");
    tree.link(`${ROOT}/dev/stdout`, "/proc/self/fd/1");
    const shape = { interpreter: "/lib/ld-musl-x86_64.so.1", needed: ["libc.so"] };
    tree.put(`rootfs/${CHAOS_PROGRAM}`, dynamicElf(shape), 0o755);
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may start a script with the interpreter it brings", async () => {
    const tree = await goodTree();
    for (const path of ["usr/bin/env", "usr/bin/python3"])
      tree.put(`${ROOT}/${path}`, staticProgram("amd64", "x"), 0o755);
    tree.put(`rootfs/${CHAOS_PROGRAM}`, "#!/usr/bin/env python3\nprint()\n", 0o755);
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may have firmware for other processors, object files and BPF programs", async () => {
    const tree = await goodTree();
    const other = dynamicElf({ machine: MACHINES.riscv64 });
    tree.put("rootfs/usr/lib/firmware/card/core.elf", other);
    tree.put("rootfs/usr/local/share/probe.o", kernelModule(null, { machine: 247 }));
    tree.put("rootfs/usr/local/share/probe.bpf", dynamicElf({ machine: 247 }));
    expect((await check(tree)).findings).toEqual([]);
  });

  it("may have modules for its kernel, for a release whose kernel is not known too", async () => {
    const tree = await goodTree();
    tree.put(`rootfs/usr/lib/modules/${KERNEL}/extras/a.ko`, kernelModule(`${KERNEL} SMP mod_unload`));
    const known = await check(tree);
    expect(known.findings.map(({ code }) => code)).toEqual(["module-signer"]);
    expect(known.kernels).toEqual([KERNEL]);
    expect((await check(tree, { version: "v1.13.2", kernel: null })).findings).toEqual(known.findings);
    const old = { version: "v1.11.0", kernel: KERNEL };
    tree.put(`rootfs/usr/lib/modules/${KERNEL}/extras/a.ko`, kernelModule(KERNEL, { signed: false }));
    expect((await check(tree, old)).findings).toEqual([]);
  });
});

describe("one fault", () => {
  it("is known in more than forty forms", () => {
    expect(BROKEN.length).toBeGreaterThan(40);
    expect(new Set(BROKEN.map(({ fault }) => fault)).size).toBe(BROKEN.length);
  });

  it.each(BROKEN.map((broken) => [broken.fault, broken] as const))("%s", async (_, broken) => {
    const tree = await goodTree();
    broken.break(tree);
    const { findings } = await check(tree, broken.release === undefined ? RELEASE : broken.release);
    const found = findings.filter(({ severity }) => broken.severity === "hint" || severity !== "hint");
    expect(found.map(({ code, severity }) => ({ code, severity }))).toEqual([
      { code: broken.code, severity: broken.severity },
    ]);
    expect(found[0]?.message).toMatch(/^.{10,300}$/s);
  });

  it("in very many files is told as one", async () => {
    const tree = await goodTree();
    for (let index = 0; index < 40; index++) tree.put(`rootfs/etc/wrong/${index}`, "");
    const { findings } = await check(tree);
    expect(findings).toHaveLength(26);
    expect(findings.at(-1)?.message).toBe("The same is so at 15 more places.");
  });
});

describe("an extension that is made to keep the checks busy", () => {
  const tangled = async (tree: BreakableTree) => {
    await expect(check(tree)).rejects.toMatchObject({
      code: "invalid_input",
      message: "The extension is too tangled to be checked",
    });
  };

  it("is refused when its libraries are looked for in very many places", async () => {
    const tree = await goodTree();
    const folders = Array.from({ length: 2_000 }, (_, index) => `/very/deep/folder/number/${index}`);
    tree.put(`${ROOT}/etc/ld.so.conf`, folders.join("\n"));
    tree.put(`${ROOT}/very/deep/folder/number/x`, "");
    const needed = Array.from({ length: 250 }, (_, index) => `lib${index}.so`);
    for (let index = 0; index < 60; index++) tree.put(`${ROOT}/usr/lib/a${index}.so`, dynamicElf({ needed }));
    await tangled(tree);
  });

  it("is refused when its links lead to each other at great length", async () => {
    const tree = await goodTree();
    const far = "a/../".repeat(800);
    tree.put(`${ROOT}/a/x`, "");
    for (let index = 0; index < 60; index++) tree.link(`${ROOT}/l${index}`, `${far}l${(index + 1) % 60}`);
    for (let index = 0; index < 60; index++) tree.link(`${ROOT}/m${index}`, `${far}l0`);
    await tangled(tree);
  });

  it("is refused when it defines more services than are read", async () => {
    const tree = await goodTree();
    const definition = "name: 1\n";
    for (let index = 0; index < 150; index++)
      tree.put(`rootfs/usr/local/etc/containers/z${index}.yaml`, definition);
    const { findings } = await check(tree);
    expect(findings.find(({ code }) => code === "service-too-many")).toMatchObject({
      severity: "error",
      message: "The extension has 151 service definitions",
    });
    // 99 of those beside the good one were read: 25 told, the rest counted.
    expect(findings.find(({ message }) => message.includes("more places"))).toMatchObject({
      code: "service-name",
      message: "The same is so at 74 more places.",
    });
  });

  it("stops when nobody waits any more", async () => {
    const options = { arch: "amd64", release: null, signal: AbortSignal.abort() } as const;
    await expect(checkExtension({ dir: (await goodTree()).dir }, options)).rejects.toThrow();
  });
});

describe("the architectures of an extension", () => {
  const of = (tree: BreakableTree) => extensionArchitectures({ dir: tree.dir });

  it("are those of its programs, both when it has none", async () => {
    const tree = await goodTree();
    expect(await of(tree)).toEqual(["amd64"]);
    tree.put(`rootfs/${CHAOS_PROGRAM}`, staticProgram("arm64", "x"), 0o755);
    expect(await of(tree)).toEqual(["arm64"]);
    tree.put(`rootfs/${CHAOS_PROGRAM}`, "no program", 0o755);
    expect(await of(tree)).toEqual(["amd64", "arm64"]);
    tree.put("rootfs/usr/lib/firmware/a.elf", dynamicElf({ machine: MACHINES.arm64 }));
    expect(await of(tree)).toEqual(["amd64", "arm64"]);
  });

  it("are refused when there are two, naming a file of each", async () => {
    const tree = await goodTree();
    tree.put(`${ROOT}/other`, staticProgram("arm64", "x"), 0o755);
    await expect(of(tree)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(
        /chaos-daemon\/chaos-daemon is for amd64.*chaos-daemon\/other for arm64/,
      ),
    });
  });

  it("do not hide a file that nobody but its owner may read", async () => {
    const tree = await goodTree();
    chmodSync(join(tree.dir, `rootfs/${CHAOS_PROGRAM}`), 0o700);
    expect(await of(tree)).toEqual(["amd64"]);
  });
});

/** Root reads everything, so nothing is refused there. */
const mayReadAll = process.getuid?.() === 0;
if (mayReadAll) console.log("files that cannot be read: not tried as root");
else
  it.each(["manifest.yaml", `rootfs/${CHAOS_PROGRAM}`])(
    "%s that nobody may read is refused in words",
    async (path) => {
      const tree = await goodTree();
      chmodSync(join(tree.dir, path), 0);
      await expect(check(tree)).rejects.toThrow("cannot be read by its owner");
    },
  );
