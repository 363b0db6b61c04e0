/** How a way to run images is chosen, and what people hear where none works. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { AppError } from "../../../lib/errors/app-error.ts";
import { chooseRunner } from "../../../lib/exec/container/choose.ts";
import { containerFailed, LastLines } from "../../../lib/exec/container/failures.ts";
import type { ContainerImage, ContainerJob } from "../../../lib/exec/container/types.ts";
import type { RunOptions, RunTool } from "../../../lib/exec/run.ts";

const NO_NAMESPACES = "bwrap: No permissions to create a new namespace";

interface Call {
  tool: string;
  args: string[];
  options: RunOptions | undefined;
}

/** A machine on which only these programs work. */
function machine(working: string[], calls: Call[] = []): RunTool {
  return async (tool, args, options) => {
    calls.push({ tool, args, options });
    const program = args.includes("bwrap") || tool === "prlimit" ? "bwrap" : tool;
    if (working.includes(program)) return { stdout: "", stderr: "" };
    const tail = program === "bwrap" ? NO_NAMESPACES : "Cannot connect to the Docker daemon";
    throw new AppError("tool_failed", `${tool} ended with exit code 1`, {
      details: { tool, exitCode: 1, tail },
    });
  };
}

const choose = (run: RunTool, runner: Parameters<typeof chooseRunner>[1]["runner"]) =>
  chooseRunner(run, { runner, dockerHost: null });

describe("chooseRunner", () => {
  it.each([
    [["bwrap", "docker"], "bubblewrap"],
    [["docker", "podman"], "docker"],
    [["podman"], "podman"],
  ])("takes of %s what needs least: %s", async (working, expected) => {
    expect((await choose(machine(working), "auto")).name).toBe(expected);
  });

  it("takes what is configured, even where another would do", async () => {
    expect((await choose(machine(["bwrap", "docker"]), "docker")).name).toBe("docker");
  });

  it("says that user namespaces are missing, and what to do", async () => {
    await expect(choose(machine(["docker"]), "bubblewrap")).rejects.toMatchObject({
      code: "tool_failed",
      message: `a container could not be started by bubblewrap: ${NO_NAMESPACES}`,
      extra: { hint: expect.stringContaining("user namespaces"), retryable: false },
    });
  });

  it("names every reason when nothing works", async () => {
    const error: unknown = await choose(machine([]), "auto").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: "no way to run an imager image works on this machine" });
    const tail = error instanceof AppError ? String(error.extra.details?.tail) : "";
    expect(tail.split("\n")).toEqual([
      expect.stringContaining(NO_NAMESPACES),
      expect.stringContaining("by docker: Cannot connect"),
      expect.stringContaining("by podman: Cannot connect"),
    ]);
  });

  it("hands the address of the daemon to docker alone", async () => {
    const calls: Call[] = [];
    const settings = { runner: "auto", dockerHost: "unix:///there" } as const;
    await chooseRunner(machine(["podman"], calls), settings);
    const env = (tool: string) => calls.find((call) => call.tool === tool)?.options?.env;
    expect([env("docker"), env("podman")]).toEqual([{ DOCKER_HOST: "unix:///there" }, undefined]);
  });
});

describe("the runner of docker", () => {
  const job: ContainerJob = {
    ...{ title: "the image", args: ["-"], stdin: Buffer.from("profile"), owner: "b-1", file: "made" },
    ...{ input: "/scratch/input", keys: "/scratch/keys", output: "/scratch/output" },
    ...{ temporary: mkdtempSync(join(tmpdir(), "runner-")), onLine: () => undefined },
    signal: new AbortController().signal,
  };
  afterAll(() => rmSync(job.temporary, { recursive: true }));
  const image = { name: "a@b", key: "k" } as ContainerImage;

  it("copies what is in a folder, so that folders of the image do not get one more in between", async () => {
    const calls: Call[] = [];
    const runner = await chooseRunner(machine(["docker"], calls), { runner: "docker", dockerHost: null });
    await runner.run(image, job);
    const copies = calls.filter(({ args }) => args[0] === "cp").map(({ args }) => args.slice(1));
    expect(copies).toEqual([
      ["/scratch/input/.", "casthouse-b-1:/input"],
      [`${job.temporary}/empty/.`, "casthouse-b-1:/out"],
      ["/scratch/keys/.", "casthouse-b-1:/secureboot"],
      ["casthouse-b-1:/out/made", "/scratch/output/made"],
    ]);
  });

  it("lets the daemon keep nothing of what the program says", async () => {
    const calls: Call[] = [];
    const runner = await chooseRunner(machine(["docker"], calls), { runner: "docker", dockerHost: null });
    await runner.run(image, job);
    expect(calls.find(({ args }) => args[0] === "create")?.args).toContain("--log-driver=none");
  });

  it("waits a short time only for a daemon that may hang", async () => {
    const calls: Call[] = [];
    const runner = await chooseRunner(machine(["docker"], calls), { runner: "docker", dockerHost: null });
    const { signal } = new AbortController();
    await runner.removeLeftovers(() => Promise.resolve(true), signal);
    const limits = calls.map(({ args, options }) => [args[0], options?.timeoutMs]);
    expect(limits).toEqual([
      ["version", 20_000],
      ["ps", 20_000],
    ]);
    expect(calls.at(-1)?.options?.signal).toBe(signal);
  });
});

describe("the sentence about a program that failed", () => {
  const said = (...lines: string[]) => {
    const kept = new LastLines();
    for (const line of lines) kept.add(line);
    return kept;
  };

  it("ends with its last line and explains the exit code", () => {
    const error = containerFailed(
      "the imager image a@b",
      "docker",
      7,
      said("profile ready", "no space in ESP", ""),
    );
    expect(error.message).toBe("the imager image a@b ended with exit code 7 (assembly): no space in ESP");
    expect(error.extra.retryable).toBe(false);
    expect(error.extra.details?.tail).toContain("profile ready");
  });

  it("says that a killed program may try again", () => {
    const error = containerFailed("the imager image a@b", "docker", 137, said());
    expect([error.message, error.extra.retryable]).toEqual(["the imager image a@b was killed", true]);
  });
});
