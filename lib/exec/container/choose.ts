/** Which way to run images: as configured, or the first that works here. */
import { CONTAINER_RUNNERS, type ContainerRunnerName } from "../../domain/container-runner.ts";
import { AppError } from "../../errors/app-error.ts";
import type { RunTool } from "../run.ts";
import { bubblewrapRunner, bubblewrapTrouble } from "./bubblewrap.ts";
import { dockerRunner, dockerTrouble } from "./docker.ts";
import type { ContainerRunner } from "./types.ts";

export interface RunnerSettings {
  runner: ContainerRunnerName | "auto";
  /** Address of Docker's daemon, null for the usual one. */
  dockerHost: string | null;
}

/**
 * The runner, tried out. "auto" is bubblewrap where user namespaces are allowed, else docker, else podman. Rejects with
 * tool_failed and a hint when it does not work.
 */
export async function chooseRunner(
  run: RunTool,
  { runner, dockerHost }: RunnerSettings,
): Promise<ContainerRunner> {
  const names = runner === "auto" ? CONTAINER_RUNNERS : [runner];
  const troubles: AppError[] = [];
  for (const name of names) {
    const [found, trouble] = await open(run, name, dockerHost);
    if (trouble === null) return found;
    troubles.push(trouble);
  }
  const [only, ...more] = troubles;
  if (only !== undefined && more.length === 0) throw only;
  throw new AppError("tool_failed", "no way to run an imager image works on this machine", {
    hint: "Allow user namespaces for bubblewrap, or give the worker a Docker daemon; docs/engines.md says how.",
    details: {
      tool: "auto",
      exitCode: null,
      signal: null,
      tail: troubles.map(({ message }) => message).join("\n"),
    },
    retryable: false,
  });
}

async function open(
  run: RunTool,
  name: ContainerRunnerName,
  host: string | null,
): Promise<[ContainerRunner, AppError | null]> {
  if (name === "bubblewrap") return [bubblewrapRunner(run), await bubblewrapTrouble(run)];
  const options = { run, program: name, host: name === "docker" ? host : null };
  return [dockerRunner(options), await dockerTrouble(options)];
}
