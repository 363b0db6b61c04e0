/** The only file that reads process.env. */
import { availableParallelism } from "node:os";

export interface Environment {
  variables: Readonly<Record<string, string | undefined>>;
  workingFolder: string;
  cores: number;
}

/** What surrounds this process, as plain data. */
export function readEnvironment(): Environment {
  return { variables: { ...process.env }, workingFolder: process.cwd(), cores: availableParallelism() };
}
