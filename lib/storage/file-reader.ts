/** A readable stream over one open file that fails when the file is shorter than promised, and a faster way to send it. */
import type { FileHandle } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";

const CHUNK_BYTES = 256 * 1024;

/** A stream that can also write itself to a sink, without a new buffer for every chunk. */
export interface Copyable extends Readable {
  /** Writes everything and leaves the sink open; rejects when source or sink fail. Not together with reading. */
  copyTo(sink: Writable): Promise<void>;
}

export const isCopyable = (stream: Readable): stream is Copyable => "copyTo" in stream;

/** Reads bytes start to end (both inclusive) of an open file and closes it; at most two chunks are held. */
export class FileReader extends Readable implements Copyable {
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

  /** Two buffers in turn: one is filled while the other is on its way. */
  async copyTo(sink: Writable): Promise<void> {
    const buffers = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
    const written: Promise<void>[] = [];
    // A sink that is torn down may never call back, and a source that is must not throw at nobody.
    const gone = new Promise<never>((_, reject) => {
      sink.once("close", () => reject(new Error("the reader went away")));
      this.on("error", reject);
    });
    gone.catch(() => undefined);
    try {
      for (let turn = 0; this.#position <= this.end; turn = 1 - turn) {
        await Promise.race([written[turn], gone]);
        if (this.destroyed) throw this.errored ?? new Error(`reading ${this.name} was stopped`);
        const chunk = await this.#fill(buffers[turn] ?? Buffer.alloc(CHUNK_BYTES));
        written[turn] = writeChunk(sink, chunk);
        // Awaited in its turn; a failure before that must not count as unhandled.
        written[turn]?.catch(() => undefined);
      }
      await Promise.race([Promise.all(written), gone]);
    } finally {
      this.destroy();
    }
  }

  async #fill(buffer: Buffer): Promise<Buffer> {
    const wanted = Math.min(buffer.length, this.end - this.#position + 1);
    const { bytesRead } = await this.handle.read(buffer, 0, wanted, this.#position);
    if (bytesRead === 0) throw this.#tooShort();
    this.#position += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  #tooShort(): Error {
    return new Error(`${this.name} is shorter than expected: it ends at byte ${this.#position}`);
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
          this.destroy(this.#tooShort());
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

const writeChunk = (sink: Writable, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    sink.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
