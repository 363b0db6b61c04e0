/**
 * The container engine: equal bytes by our own imager image, honest failures, hostile images that reach nothing, and nothing
 * left behind by killed workers. By bubblewrap; `npm run check:container` runs the same with a Docker daemon.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../../lib/config/environment.ts";
import { loadConfig } from "../../lib/config/load.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import type { BuildProgress } from "../../lib/imager/types.ts";
import { createRuntime } from "../../lib/runtime/runtime.ts";
import { killHard, temporaryFolder, until } from "../fixtures/build-world.ts";
import {
  type Built,
  type EngineShop,
  OUR_IMAGER,
  openEngineRegistry,
  openEngineShop,
} from "../fixtures/engine-shop.ts";
import { asOrdinaryAccount, keepsRoot, ORDINARY } from "../fixtures/ordinary-account.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";

const SCHEMATIC = `customization:
  extraKernelArgs: [panic=30]
  meta:
    - {key: 0xc, value: "machine: one"}
  systemExtensions:
    officialExtensions: [siderolabs/qemu-guest-agent, siderolabs/intel-ucode]
`;

/** Set by scripts/check-container.ts. */
const RUNNER = process.env.CONTAINER_TEST_RUNNER === "docker" ? "docker" : "bubblewrap";
const DOCKER_HOST = process.env.DOCKER_HOST;

let registry: Awaited<ReturnType<typeof openEngineRegistry>>;
let shop: EngineShop;

beforeAll(async () => {
  registry = await openEngineRegistry();
  shop = await openEngineShop(registry, {
    runner: RUNNER,
    ...(DOCKER_HOST === undefined ? {} : { dockerHost: DOCKER_HOST }),
  });
}, 300_000);
afterAll(async () => {
  await shop?.close();
  await registry?.close();
});

async function sha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

const known = new Map<string, Promise<{ key: string; sha256: string }>>();

/** What the native engine makes of SCHEMATIC, made once. */
function buildNatively(path: string): Promise<{ key: string; sha256: string }> {
  const build = async () => {
    const { product, key } = await shop.build({ path, schematic: SCHEMATIC, imager: null });
    return { key, sha256: await sha256(product.path) };
  };
  const building = known.get(path) ?? build();
  known.set(path, building);
  return building;
}

describe("an imager image of our own", () => {
  it.each(["metal-amd64.iso", "installer-amd64.tar", "metal-amd64-secureboot-uki.efi"])(
    "makes %s as the native engine does",
    async (path) => {
      const native = await buildNatively(path);
      const container = await shop.build({ path, schematic: SCHEMATIC, imager: OUR_IMAGER });
      expect(await sha256(container.product.path)).toBe(native.sha256);
      expect(container.key).not.toBe(native.key);
      const { events } = container;
      const percents = events.flatMap((event) => (event.type === "progress" ? [event.percent] : []));
      expect(percents).toEqual([...percents].sort((a, b) => a - b));
      expect(percents.at(-1)).toBe(100);
      expect(events).toContainEqual({ type: "log", line: expect.stringMatching(/^made \/out\//) });
    },
  );

  it("makes the installer of the registry, layer by layer", async () => {
    const request = { path: "installer-amd64.tar", schematic: SCHEMATIC, manifest: true };
    const native = await shop.build({ ...request, imager: null });
    const container = await shop.build({ ...request, imager: OUR_IMAGER });
    expect(await readFile(container.product.path, "utf8")).toBe(await readFile(native.product.path, "utf8"));
    const digests = ({ product }: Built) => product.blobs?.map(({ digest }) => digest);
    expect(digests(container)).toEqual(digests(native));
    for (const { path, digest } of container.product.blobs ?? [])
      expect(`sha256:${await sha256(path)}`).toBe(digest);
  });
});

/** The build of a small file by an image whose program is a shell script. */
async function script(name: string, program: string, signal?: AbortSignal): Promise<Built> {
  const imager = await shop.pushScript(name, program);
  return shop.build({ path: "metal-amd64-uki.efi", imager, ...(signal === undefined ? {} : { signal }) });
}

const FILE = "/out/metal-amd64-uki.efi";

describe("an image that prints what it was given", () => {
  const WORDS = ["worker-33-of-hall-9", "abcdef.0123456789abcdef"];
  const CONFIGURED = `customization:
  embeddedMachineConfiguration: |
    apiVersion: v1alpha1
    kind: HostnameConfig
    hostname: ${WORDS[0]}
    machine:
      token: "${WORDS[1]}"
`;

  it.each([0, 7])("tells nothing of an embedded configuration, ended with %i", async (exitCode) => {
    const imager = await shop.pushScript(
      `printing-${exitCode}`,
      `echo profile ready:; $B tee /tmp/profile >&2; $B sed 's/^ *//' /tmp/profile
       $B cp /tmp/profile ${FILE}; echo '[2/2] made it'; $B grep token /tmp/profile; exit ${exitCode}`,
    );
    const events: BuildProgress[] = [];
    const request = { path: "metal-amd64-uki.efi", imager, schematic: CONFIGURED };
    const ended = await shop
      .build({ ...request, onProgress: (event) => events.push(event) })
      .then(({ product }) => readFile(product.path, "utf8"))
      .catch((error: unknown) => error);
    const said = JSON.stringify([events, ended instanceof AppError ? [ended.message, ended.extra] : null]);
    for (const word of WORDS) {
      expect(said).not.toContain(word);
      // The image did have it.
      if (exitCode === 0) expect(ended).toContain(word);
    }
    expect(said).toContain("made it");
    expect(ended instanceof AppError).toBe(exitCode !== 0);
  });
});

describe("an image that fails", () => {
  it("is heard: exit code, last line, step", async () => {
    const failing = script(
      "failing",
      "$B cat >/dev/null; exec >&2; echo begun; echo 'no room for the kernel'; exit 7",
    );
    await expect(failing).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringMatching(
        /^the imager image test\/failing@sha256:[0-9a-f]{12} ended with exit code 7 \(assembly\): no room for the kernel$/,
      ),
      extra: {
        details: { tool: RUNNER, exitCode: 7, phase: "uki", tail: "begun\nno room for the kernel" },
        retryable: false,
      },
    });
  });

  it("is told when it makes no file, or a link instead of one", async () => {
    await expect(script("idle", "exit 0")).rejects.toThrow(
      /ended well, but made no file metal-amd64-uki.efi/,
    );
    await expect(script("linking", `$B ln -s /etc/passwd ${FILE}`)).rejects.toThrow(/made no file/);
  });

  it("is refused when it cannot be started", async () => {
    await expect(
      shop.build({ path: "metal-amd64-uki.efi", imager: "siderolabs/talosctl-all" }),
    ).rejects.toThrow(/has no entry point, so it is no imager/);
  });
});

describe("a hostile image", () => {
  it("reads and writes nothing but what it was given", async () => {
    const secret = join(shop.dir, "secret");
    await writeFile(secret, "of the machine");
    const text = `
      $B cat ${secret} && echo READ
      $B cat /etc/shadow && echo READ
      for place in / /busybox /input/vmlinuz /input/new /etc/new /dev/new; do ($B touch $place; echo x >$place) 2>/dev/null && echo "WROTE $place"; done
      $B chmod 777 /input/vmlinuz && echo CHANGED
      $B mknod /tmp/disk b 254 0 && echo DEVICE
      $B mount -t tmpfs none /tmp && echo MOUNTED
      $B ls /proc | $B grep -c '^[0-9]' | $B sed 's/^/processes /'
      for place in /input/input /out/empty /out/output; do [ -e $place ] && echo "NESTED $place"; done
      $B id -u; $B env
      $B cat >/tmp/profile; $B cp /tmp/profile ${FILE}`;
    const { product, events } = await script("curious", text);
    const lines = events.flatMap((event) => (event.type === "log" ? [event.line] : []));
    // Docker gives copies of everything, which may be changed.
    const harm =
      RUNNER === "docker" ? /READ|NESTED|DEVICE|MOUNTED/ : /READ|NESTED|WROTE|CHANGED|DEVICE|MOUNTED/;
    expect(lines.filter((line) => harm.test(line))).toEqual([]);
    expect(lines).toContain("0");
    expect(lines.filter((line) => line.startsWith("processes "))).toEqual([
      expect.stringMatching(/^processes \d$/),
    ]);
    expect(lines.join("\n")).not.toMatch(/SOURCE_|DATABASE|REDIS|VITEST/);
    expect(await readFile(product.path, "utf8")).toContain("kind: uki");
    expect(await readFile(secret, "utf8")).toBe("of the machine");
  });

  it("reaches no socket", async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const text = `
      $B nc -w 2 127.0.0.1 ${port} </dev/null && echo REACHED
      $B nc -w 2 192.0.2.1 80 </dev/null && echo ROUTED
      $B ip -o link | $B wc -l | $B sed 's/^/links /'
      $B cat >${FILE}`;
    const { events } = await script("calling", text);
    server.close();
    const lines = events.flatMap((event) => (event.type === "log" ? [event.line] : []));
    expect(lines.filter((line) => /REACHED|ROUTED/.test(line))).toEqual([]);
    expect(lines).toContain("links 1");
  });

  it("leaves no process behind, neither at its end nor when it is cancelled", async () => {
    const left = `left-mark-${process.pid}`;
    const daemon = `$B sh -c ': ${left}; /busybox touch /tmp/up; /busybox sleep 900; :' </dev/null >/dev/null 2>&1 &`;
    await script("leaving", `${daemon}\nwhile ! [ -e /tmp/up ]; do $B sleep 1; done; $B cat >${FILE}`);
    expect(await processesWith(left)).toEqual([]);
    const stubborn = `stubborn-mark-${process.pid}`;
    const controller = new AbortController();
    const text = `: ${stubborn}; trap '' TERM INT HUP; $B sh -c ': ${stubborn}; while :; do /busybox sleep 1; done' & while :; do $B sleep 1; done`;
    const running = script("stubborn", text, controller.signal);
    running.catch(() => undefined);
    await until("a running container", async () => (await processesWith(stubborn)).length > 0);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
    expect(await processesWith(stubborn)).toEqual([]);
  });
});

if (RUNNER === "bubblewrap" && process.getuid?.() === 0)
  describe("under an ordinary account", () => {
    it("an image runs just as well", async ({ skip }) => {
      const reason = keepsRoot();
      if (reason !== null) skip(reason);
      const home = await mkdtemp(join(tmpdir(), "engine-plain-"));
      try {
        for (const name of ["root", "input", "output", "temporary"]) await mkdir(join(home, name));
        await copyFile("/bin/busybox", join(home, "root/busybox"));
        await writeFile(join(home, "input/given"), "given");
        for (const name of ["", "output", "temporary"]) await chown(join(home, name), ORDINARY, ORDINARY);
        const lines = JSON.parse(await asOrdinary(home));
        expect(lines).toEqual(["0", "kept", "given"]);
        expect(await readFile(join(home, "output/file"), "utf8")).toBe("made\n");
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    });
  });

/** Runs an image whose tree is `home`/root in a process that has given up root; gives the lines it said as JSON. */
async function asOrdinary(home: string): Promise<string> {
  const lib = join(import.meta.dirname, "../../lib/exec");
  const script = `/busybox id -u; /busybox touch /x 2>/dev/null || echo kept; /busybox cat /input/given; echo made >/out/file`;
  const code = `
    import { createRunTool } from "${lib}/run.ts";
    import { bubblewrapRunner } from "${lib}/container/bubblewrap.ts";
    const lines = [];
    const settings = { entrypoint: ["/busybox", "sh", "-c", ${JSON.stringify(script)}], env: [], workingDir: "/" };
    await bubblewrapRunner(createRunTool()).run(
      { name: "plain", settings, key: "0", rootfs: async () => "${home}/root" },
      {
        title: "the image", args: [], stdin: Buffer.from(""), keys: null, file: "file", owner: "plain",
        input: "${home}/input", output: "${home}/output", temporary: "${home}/temporary",
        signal: new AbortController().signal, onLine: (line) => lines.push(line),
      },
    );
    console.log(JSON.stringify(lines));`;
  return asOrdinaryAccount(code);
}

describe("a worker", () => {
  it("makes the ISO, and tells of it as ever", async () => {
    const factory = await openFactory(OUR_IMAGER);
    onTestFinished(factory.close);
    factory.startWorker();
    const path = "metal-amd64.iso";
    const asset = await factory.ask(path, SCHEMATIC);
    expect(asset.sha256).toBe((await buildNatively(path)).sha256);
    const [build] = await factory.runtime.services.builds.list({ limit: 1 });
    expect(build).toMatchObject({ state: "ready", attempts: 1, percent: 100 });
  });

  it("that is killed leaves no process, container or folder behind", async () => {
    const mark = `killed-mark-${process.pid}`;
    const text = `trap '' TERM INT HUP; $B sh -c ': ${mark}; while :; do /busybox sleep 1; done'`;
    const factory = await openFactory(await registry.pushScript("endless", text));
    onTestFinished(factory.close);
    const doomed = factory.startWorker();
    const asking = factory.ask("metal-amd64-uki.efi", "customization: {}\n");
    asking.catch(() => undefined);
    await until("a running imager", async () => (await processesWith(mark)).length > 0, 60_000);
    await killHard(doomed);
    const [build] = await factory.runtime.services.builds.list({ limit: 1 });
    await factory.runtime.services.builds.cancel(build?.id ?? "");
    await expect(asking).rejects.toMatchObject({ code: "cancelled" });
    // A container outlives its worker; the next one removes it.
    if (RUNNER === "docker") factory.startWorker();
    await until("no process", async () => (await processesWith(mark)).length === 0);
    if (RUNNER === "bubblewrap") factory.startWorker();
    await until("clean scratch", async () => (await readdir(join(factory.dir, "scratch"))).length === 0);
    await expectNoContainers();
  });
});

afterAll(() => expectNoContainers());

async function expectNoContainers(): Promise<void> {
  if (RUNNER !== "docker") return;
  const names = execFileSync("docker", ["ps", "--all", "--format", "{{.Names}}"], { encoding: "utf8" });
  expect(names).toBe("");
}

/** A factory with database, queue and folder of its own, whose workers run this imager image. */
async function openFactory(imager: string) {
  const { dir, remove } = await temporaryFolder();
  const variables = {
    PATH: process.env.PATH ?? "",
    DATABASE_URL: await createMigratedDatabase(),
    REDIS_URL: (await createTestRedis()).url,
    DATA_DIR: dir,
    SOURCE_REGISTRY: registry.url,
    SOURCE_VERIFY: "off",
    LOG_LEVEL: "silent",
    BUILD_ENGINE: "container",
    BUILD_CONTAINER_RUNNER: RUNNER,
    BUILD_IMAGER_IMAGE: imager,
    ...(DOCKER_HOST === undefined ? {} : { DOCKER_HOST }),
  };
  const loaded = loadConfig({ ...readEnvironment(), variables });
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join());
  const runtime = await createRuntime(loaded.config, "web");
  const children: ChildProcess[] = [];
  const startWorker = (): ChildProcess => {
    const args = ["--import", "tsx", "workers/main.ts"];
    const env = { ...process.env, ...variables };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
    children.push(child);
    return child;
  };
  const ask = async (path: string, schematic: string) => {
    const { services } = runtime;
    const { id: schematicId } = await services.schematics.create(schematic);
    const asset = await services.assets.resolve({ schematicId, version: "v1.13.2", path });
    return services.assets.ensure(asset, { requestId: "test", signal: AbortSignal.timeout(150_000) });
  };
  const close = async () => {
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) await killHard(child);
    await runtime.close();
    await remove();
  };
  return { dir, runtime, startWorker, ask, close };
}

/** Processes on this machine whose command line holds the text. */
async function processesWith(text: string): Promise<string[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => line.includes(text));
}
