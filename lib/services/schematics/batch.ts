/** Gathers inserts that arrive at the same moment into one statement, so that the disk is asked once for many. */
import type { SchematicRepository, SchematicRow } from "../../db/schematic-repository.ts";

const ROWS_PER_STATEMENT = 200;
/** Characters of text in one statement: a schematic may have megabytes, and travels as hexadecimal digits. */
const CHARACTERS_PER_STATEMENT = 4_000_000;
const STATEMENTS_AT_ONCE = 2;

interface Pending {
  row: SchematicRow;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

export class SchematicBatch {
  readonly #repository: SchematicRepository;
  #pending: Pending[] = [];
  #running = 0;

  constructor(repository: SchematicRepository) {
    this.#repository = repository;
  }

  /** Resolves when the row is on disk, whether this call or an earlier one put it there. */
  insert(row: SchematicRow): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ row, resolve, reject });
      if (this.#pending.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    while (this.#running < STATEMENTS_AT_ONCE && this.#pending.length > 0) {
      const batch = this.#pending.splice(0, this.#batchLength());
      this.#running += 1;
      void this.#write(batch);
    }
  }

  /** As many as fit; one that alone is too large still goes, by itself. */
  #batchLength(): number {
    let characters = 0;
    const tooMany = this.#pending.findIndex(({ row }, index) => {
      characters += row.canonical.length;
      return index === ROWS_PER_STATEMENT || (index > 0 && characters > CHARACTERS_PER_STATEMENT);
    });
    return tooMany === -1 ? this.#pending.length : tooMany;
  }

  async #write(batch: Pending[]): Promise<void> {
    try {
      // Sorted by id: two processes that insert the same rows take the index locks in the same order.
      const rows = batch.map((item) => item.row).sort((a, b) => (a.id < b.id ? -1 : 1));
      await this.#repository.insertMany(rows);
      for (const item of batch) item.resolve();
    } catch (error) {
      for (const item of batch) item.reject(error);
    } finally {
      this.#running -= 1;
      this.#flush();
    }
  }
}
