/** For entry points: the joined process, or a sentence on standard error and the exit code of a wrong configuration. */
import { EXIT_CONFIG } from "../config/load.ts";
import type { Config } from "../config/types.ts";
import { AppError } from "../errors/app-error.ts";
import type { Role } from "./base.ts";
import { createRuntime, type Runtime } from "./runtime.ts";

/** Files that the configuration names are read here for the first time; keys that cannot work end the process. */
export async function createRuntimeOrExit(config: Config, role: Role): Promise<Runtime> {
  try {
    return await createRuntime(config, role);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_input") throw error;
    process.stderr.write(`configuration error: ${error.message}\n${error.extra.hint ?? ""}\n`);
    process.exit(EXIT_CONFIG);
  }
}
