/** The files of an extension's rootfs in memory: listed once, then asked without touching the disk again. */
import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { invalidInput } from "../../errors/app-error.ts";
import type { ReadAt } from "../../formats/elf.ts";

export interface MappedFile {
  /** Relative to the top, "/" between the parts. */
  path: string;
  kind: "file" | "folder" | "link" | "special";
  /** Permission bits. */
  mode: number;
  sizeBytes: number;
  /** Set for links. */
  linkTo?: string;
}

const MOST_FILES = 200_000;
const MOST_LINKS = 40;
/** Names that may be compared over all lookups: honest extensions need a hundredth. */
const MOST_STEPS = 10_000_000;
const TURN = 500;

/** Entries below a folder, every folder before its children, names in byte order. */
export class FileMap {
  readonly #files = new Map<string, MappedFile>();
  #steps = 0;

  private constructor(readonly root: string) {}

  /** Lists everything below the folder. invalid_input when it is too much. */
  static async of(root: string, signal?: AbortSignal): Promise<FileMap> {
    const map = new FileMap(root);
    await map.#visit("", signal);
    return map;
  }

  async #visit(folder: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const names = await readdir(join(this.root, folder));
    for (const name of names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      if (this.#files.size >= MOST_FILES)
        throw invalidInput(`The extension holds more than ${MOST_FILES} files`);
      const path = folder === "" ? name : `${folder}/${name}`;
      const entry = await describe(this.root, path);
      this.#files.set(path, entry);
      if (entry.kind === "folder") await this.#visit(path, signal);
    }
  }

  all(): MappedFile[] {
    return [...this.#files.values()];
  }

  at(path: string): MappedFile | null {
    return this.#files.get(path) ?? null;
  }

  /** Calls `work` for every entry, and lets others have their turn now and then. */
  async each(work: (entry: MappedFile) => void, signal?: AbortSignal): Promise<void> {
    for (const [index, entry] of this.all().entries()) {
      work(entry);
      if (index % TURN === 0) await nextTurn(signal);
    }
  }

  /** Counts the work of lookups. invalid_input when it is more than any honest extension causes. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS)
      throw invalidInput("The extension is too tangled to be checked", {
        hint: "It has too many programs, libraries, search paths or links that lead to each other.",
      });
  }

  /**
   * The entry that a path of a program leads to whose "/" is the folder `scope` ("" for the top), links followed. Null
   * when nothing is there or links go round in circles.
   */
  resolve(scope: string, path: string): MappedFile | null {
    // What is listed under its whole path has no link above it.
    const inside = path.replace(/^\/+/, "");
    const listed = this.at(scope === "" ? inside : `${scope}/${inside}`);
    if (listed !== null && listed.linkTo === undefined) return listed;
    const prefix = scope === "" ? [] : scope.split("/");
    let waiting = path.split("/").filter(Boolean);
    let done: string[] = [];
    for (let links = 0; ; ) {
      const [part, ...rest] = waiting;
      this.spend(1 + rest.length + done.length);
      if (part === undefined) return this.at([...prefix, ...done].join("/")) ?? this.#top(scope, done);
      waiting = rest;
      if (part === ".") continue;
      if (part === "..") {
        done = done.slice(0, -1);
        continue;
      }
      const entry = this.at([...prefix, ...done, part].join("/"));
      if (entry === null) return null;
      if (entry.linkTo === undefined) {
        done.push(part);
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) return null;
      if (entry.linkTo.startsWith("/")) done = [];
      waiting = [...entry.linkTo.split("/").filter(Boolean), ...waiting];
    }
  }

  #top(scope: string, done: string[]): MappedFile | null {
    const isTop = scope === "" && done.length === 0;
    return isTop ? { path: "", kind: "folder", mode: 0o755, sizeBytes: 0 } : null;
  }

  /** Opens a regular file for reading in pieces. */
  async reading<T>(entry: MappedFile, work: (read: ReadAt) => Promise<T>): Promise<T> {
    const handle = await open(join(this.root, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return await work(async (offset, length) => {
        const wanted = Math.max(0, Math.min(length, entry.sizeBytes - offset));
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, offset);
        return buffer.subarray(0, bytesRead);
      });
    } finally {
      await handle.close();
    }
  }
}

/** Ends when whatever waited has been served; throws when nobody waits for us any more. */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}

async function describe(root: string, path: string): Promise<MappedFile> {
  const full = join(root, path);
  const stats = await lstat(full);
  const mode = stats.mode & 0o7777;
  if (stats.isDirectory()) return { path, kind: "folder", mode, sizeBytes: 0 };
  if (stats.isFile()) return { path, kind: "file", mode, sizeBytes: stats.size };
  if (stats.isSymbolicLink()) return { path, kind: "link", mode, sizeBytes: 0, linkTo: await readlink(full) };
  return { path, kind: "special", mode, sizeBytes: 0 };
}
