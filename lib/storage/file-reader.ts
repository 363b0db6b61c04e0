/** A readable stream over one open file that fails when the file is shorter than promised. */
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";

const CHUNK_BYTES = 256 * 1024;

/** Reads bytes start to end (both inclusive) of an open file and closes it; at most two chunks are held. */
export class FileReader extends Readable {
  #position: number;

  constructor(
    readonly handle: FileHandle,
    start: number,
    readonly end: number,
    readonly name: string,
  ) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#position = start;
  }

  override _read(): void {
    const wanted = Math.min(CHUNK_BYTES, this.end - this.#position + 1);
    if (wanted <= 0) {
      this.push(null);
      return;
    }
    this.handle.read(Buffer.allocUnsafe(wanted), 0, wanted, this.#position).then(
      ({ bytesRead, buffer }) => {
        if (bytesRead === 0) {
          this.destroy(new Error(`${this.name} is shorter than expected: it ends at byte ${this.#position}`));
          return;
        }
        this.#position += bytesRead;
        this.push(buffer.subarray(0, bytesRead));
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.handle.close().then(
      () => done(error),
      (closing: Error) => done(error ?? closing),
    );
  }
}
