/** A program that comes as a whole image, run once over files that are given to it, for the one file it makes. */
import type { ContainerRunnerName } from "../../domain/container-runner.ts";
import type { Reword } from "../output-tail.ts";

/** What an image says about how it is started (OCI image-spec, "Image Configuration"). */
export interface ImageSettings {
  entrypoint: string[];
  /** NAME=value. */
  env: string[];
  workingDir: string;
}

export interface ContainerJob {
  /** What people know the program by; begins every message. */
  title: string;
  /** Behind the image's entry point. */
  args: string[];
  stdin: Uint8Array;
  /** Folder of this machine that the program sees read-only as CONTAINER.input. */
  input: string;
  /** Folder with key files that it sees read-only as CONTAINER.keys, null for none. */
  keys: string | null;
  /** Empty folder that it may write to, CONTAINER.output inside. */
  output: string;
  /** Empty folder for its own temporary files, on disk. */
  temporary: string;
  /** Name of the file that it has to leave in CONTAINER.output. */
  file: string;
  /** Names the work in whatever outlives this process; letters, digits and dashes. */
  owner: string;
  signal: AbortSignal;
  /** Every line the program says. */
  onLine: (line: string) => void;
  /** Changes each line before anybody sees it; given when stdin holds a secret. */
  reword?: Reword;
}

/** Where things are inside. */
export const CONTAINER = { input: "/input", keys: "/secureboot", output: "/out", temporary: "/tmp" } as const;

/** Limits of one run. Building a disk image with xz takes most of the memory. */
export const LIMITS = {
  memoryBytes: 4096 * 1024 * 1024,
  processes: 1024,
  openFiles: 4096,
  /** Of everything in the output and temporary folders, allocated blocks counted. */
  diskBytes: 32 * 1024 ** 3,
  diskFiles: 300_000,
  fileBytes: 64 * 1024 ** 3,
} as const;

/** One way to run such a program. */
export interface ContainerRunner {
  name: ContainerRunnerName;
  /**
   * Runs the job; afterwards its file is in the output folder, and no process or container of it is left. Rejects with AppError: tool_failed
   * with the program's last words, timed_out, cancelled, out_of_space.
   */
  run(image: ContainerImage, job: ContainerJob): Promise<void>;
  /** Removes containers that a process which died has left behind; `isAlive` is asked for the owner of each. */
  removeLeftovers(isAlive: (owner: string) => Promise<boolean>, signal?: AbortSignal): Promise<number>;
}

/** An image that lies on this machine, in the form a runner asks for. */
export interface ContainerImage {
  /** repository@digest, for people. */
  name: string;
  settings: ImageSettings;
  /** 64 hex digits that change with any byte of the image. */
  key: string;
  /** Its flattened tree, which nobody changes. */
  rootfs(): Promise<string>;
  /** An archive as `docker save` writes it, with this tag, below `folder`. */
  archive(folder: string, tag: string): Promise<string>;
}
