/** Looks at a sandboxed program from outside: how much memory its processes use and how much it has written. */
import { lstat, opendir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface WatchLimits {
  /** Resident memory of all processes together. */
  memoryBytes: number;
  /** Folder whose allocated blocks are counted, null for none. */
  work: string | null;
  workBytes: number;
  /** Most files and folders below `work`. */
  workFiles: number;
}

const EVERY_MS = 100;
const BLOCK = 512;
const PAGE = 4096;
const MIB = 1024 * 1024;

/** Aborts its signal when a limit is passed; `complaint` then says which. */
export class SandboxWatch {
  readonly #limits: WatchLimits;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #complaint: string | null = null;

  constructor(limits: WatchLimits) {
    this.#limits = limits;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get complaint(): string | null {
    return this.#complaint;
  }

  /** Begins to look at the process and all its descendants. */
  start(pid: number): void {
    const look = async () => {
      const found = (await this.#memory(pid)) ?? (await this.#disk());
      if (this.#timer === undefined) return;
      if (found === null) this.#timer = setTimeout(() => void look(), EVERY_MS);
      else {
        this.#complaint = found;
        this.#controller.abort();
      }
    };
    this.#timer = setTimeout(() => void look(), EVERY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #memory(pid: number): Promise<string | null> {
    const { memoryBytes } = this.#limits;
    return (await residentBytes(pid)) > memoryBytes
      ? `it used more than ${Math.round(memoryBytes / MIB)} MiB of memory`
      : null;
  }

  async #disk(): Promise<string | null> {
    const { work, workBytes, workFiles } = this.#limits;
    if (work === null) return null;
    const used = { bytes: 0, files: 0 };
    await addUsage(work, used, this.#limits);
    if (used.files > workFiles) return `it made more than ${workFiles} files`;
    return used.bytes > workBytes ? `it wrote more than ${Math.round(workBytes / MIB)} MiB` : null;
  }
}

async function addUsage(
  path: string,
  used: { bytes: number; files: number },
  most: Pick<WatchLimits, "workBytes" | "workFiles">,
): Promise<void> {
  if (used.files > most.workFiles || used.bytes > most.workBytes) return;
  // Files come and go while we look.
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  used.bytes += stats.blocks * BLOCK;
  used.files += 1;
  if (!stats.isDirectory()) return;
  const folder = await opendir(path).catch(() => null);
  if (folder === null) return;
  for await (const { name } of folder) await addUsage(join(path, name), used, most);
}

interface ProcessFacts {
  pid: number;
  parent: number;
  residentBytes: number;
}

/** Resident memory of a process and its descendants, proc(5). */
async function residentBytes(root: number): Promise<number> {
  const all = await processes();
  const family = new Set([root]);
  let total = 0;
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) {
      if (family.has(pid) || !family.has(parent)) continue;
      family.add(pid);
      grown = true;
    }
  }
  for (const { pid, residentBytes: bytes } of all) if (family.has(pid)) total += bytes;
  return total;
}

async function processes(): Promise<ProcessFacts[]> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(names.map(readProcess));
  return found.filter((facts) => facts !== null);
}

async function readProcess(name: string): Promise<ProcessFacts | null> {
  const text = await readFile(`/proc/${name}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in brackets may hold anything; what follows is numbers.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid: Number(name), parent: Number(fields[1]), residentBytes: Number(fields[21]) * PAGE };
}

/** Threads that an account has now: the limit on processes counts these too. */
export async function countTasks(uid: number): Promise<number> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const counts = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(`/proc/${name}/status`, "utf8").catch(() => "");
      if (Number(/^Uid:\s+(\d+)/m.exec(text)?.[1] ?? -1) !== uid) return 0;
      return Number(/^Threads:\s+(\d+)/m.exec(text)?.[1] ?? 1);
    }),
  );
  return counts.reduce((total, count) => total + count, 0);
}
