/** Follows the file of declared sources: what it says is done again whenever it changes. */
import { readFile, stat } from "node:fs/promises";
import { invalidInput } from "../../errors/app-error.ts";
import { applyDeclarations, type Declaration, parseDeclarations } from "./declared.ts";
import type { OwnSourceServiceOptions } from "./sources.ts";

const LOOK_EVERY_MS = 1_000;
const MOST_FILE_BYTES = 1024 * 1024;
/** After a failure that the file may not be to blame for: a registry that is away, another process at work. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 15 * 60_000;

export interface DeclaredOptions {
  file: string;
  service: OwnSourceServiceOptions;
  onApplied: (count: number) => void;
  onError: (error: unknown) => void;
}

/** Decides when a file is read: once it has stopped changing, and again after failures, with growing pauses. */
export class FilePacer {
  #last = "";
  #done = "";
  #tried = "";
  #pauseMs = FIRST_PAUSE_MS;
  #againAt = 0;

  /** True when the file, as its mark tells it, is to be read now. A file that is being written differs from one look to the next. */
  isDue(mark: string, now: number): boolean {
    const steady = mark === this.#last;
    this.#last = mark;
    if (!steady || mark === this.#done) return false;
    if (mark !== this.#tried) this.#pauseMs = FIRST_PAUSE_MS;
    else if (now < this.#againAt) return false;
    else this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#tried = mark;
    this.#againAt = now + this.#pauseMs;
    return true;
  }

  /** All that the file says is done. */
  succeed(mark: string): void {
    this.#done = mark;
  }
}

/** Follows the file until closed. A file that is wrong changes nothing and is reported. */
export function followDeclarations(options: DeclaredOptions): { close(): Promise<void> } {
  const shutdown = new AbortController();
  const pacer = new FilePacer();
  let current: Promise<void> | null = null;
  let kept = { mark: "", declarations: [] as Declaration[], done: [] as Declaration[] };
  const apply = async (mark: string) => {
    if (kept.mark !== mark)
      kept = { mark, declarations: parseDeclarations(await readLimited(options.file)), done: [] };
    const { service } = options;
    let failures: unknown[] = [];
    const work = async () => {
      const applied = await applyDeclarations(service, kept.declarations, shutdown.signal, kept.done);
      kept.done = applied.done;
      failures = applied.failures;
    };
    // Somebody else at it may be about to fail, so it is looked at again later.
    if (!(await service.rows.alone(work))) return;
    for (const failure of failures) options.onError(failure);
    if (failures.length > 0) return;
    pacer.succeed(mark);
    options.onApplied(kept.declarations.length);
  };
  const look = async () => {
    try {
      const { mtimeMs, size } = await stat(options.file);
      const mark = `${mtimeMs} ${size}`;
      if (pacer.isDue(mark, options.service.now())) await apply(mark);
    } catch (error) {
      if (!shutdown.signal.aborted) options.onError(error);
    }
  };
  const start = () => {
    current ??= look().finally(() => {
      current = null;
    });
  };
  start();
  const timer = setInterval(start, LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      shutdown.abort();
      await current;
    },
  };
}

async function readLimited(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MOST_FILE_BYTES) throw invalidInput(`${file} is larger than ${MOST_FILE_BYTES} bytes`);
  return readFile(file, "utf8");
}
