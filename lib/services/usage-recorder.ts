/** Remembers which rows were used and writes that down now and then: serving must not cost a write each time. */

const FLUSH_MS = 60_000;
const MOST_NAMES = 20_000;

export class UsageRecorder {
  readonly #write: (names: string[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #names = new Set<string>();

  /** `write` gets every name at most once per minute. */
  constructor(write: (names: string[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS);
    this.#timer.unref();
  }

  note(name: string): void {
    if (this.#names.size < MOST_NAMES) this.#names.add(name);
  }

  /** Writes what was noted; a failure is reported and costs only the date of last use. */
  async flush(): Promise<void> {
    if (this.#names.size === 0) return;
    const names = [...this.#names];
    this.#names = new Set();
    try {
      await this.#write(names);
    } catch (error) {
      this.#onError(error);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
