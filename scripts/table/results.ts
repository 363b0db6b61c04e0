/** Counts what was made, refused and broken, and says so. */

export class Results {
  readonly #started = performance.now();
  readonly #refusals = new Map<string, string[]>();
  readonly #failures: string[] = [];
  #made = 0;
  #slowest = { name: "", ms: 0 };

  constructor(private readonly say: (line: string) => void) {}

  made(name: string, ms: number): void {
    this.#made += 1;
    if (ms > this.#slowest.ms) this.#slowest = { name, ms };
    this.say(`ok      ${name} (${seconds(ms)})`);
  }

  refused(name: string, reason: string): void {
    const names = this.#refusals.get(reason) ?? [];
    names.push(name);
    this.#refusals.set(reason, names);
    this.say(`skipped ${name}: ${reason}`);
  }

  failed(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#failures.push(`${name}: ${reason}`);
    this.say(`FAILED  ${name}: ${reason}`);
  }

  /** True when nothing failed. */
  summary(): boolean {
    this.say("");
    for (const [reason, names] of this.#refusals) this.say(`skipped ${names.length}: ${reason}`);
    for (const failure of this.#failures) this.say(`FAILED  ${failure}`);
    const refused = [...this.#refusals.values()].reduce((sum, names) => sum + names.length, 0);
    const total = seconds(performance.now() - this.#started);
    this.say(
      `${this.#made} made and checked, ${refused} skipped, ${this.#failures.length} failed in ${total}; slowest ${this.#slowest.name} (${seconds(this.#slowest.ms)})`,
    );
    return this.#failures.length === 0;
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
