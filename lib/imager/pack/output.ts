/** A file written from front to back, from memory and from pieces of other files, in few large writes. */

import { type FileHandle, open } from "node:fs/promises";
import { packingBroke } from "./job.ts";

const BUFFER_BYTES = 4 * 1024 * 1024;

export class Output {
  private readonly buffer = Buffer.alloc(BUFFER_BYTES);
  private filled = 0;

  private constructor(private readonly file: FileHandle) {}

  /** Creates or empties the file. */
  static async create(path: string): Promise<Output> {
    return new Output(await open(path, "w"));
  }

  /** Appends bytes; they may be changed once the promise is settled. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const size = Math.min(bytes.length - at, BUFFER_BYTES - this.filled);
      this.buffer.set(bytes.subarray(at, at + size), this.filled);
      this.filled += size;
      at += size;
      if (this.filled === BUFFER_BYTES) await this.flush();
    }
  }

  /** Appends `length` bytes of another open file. */
  async copy(source: FileHandle, offset: number, length: number): Promise<void> {
    for (let at = 0; at < length; ) {
      const size = Math.min(length - at, BUFFER_BYTES - this.filled);
      const { bytesRead } = await source.read(this.buffer, this.filled, size, offset + at);
      if (bytesRead === 0) throw packingBroke(`unexpected end of file at ${offset + at}`);
      this.filled += bytesRead;
      at += bytesRead;
      if (this.filled === BUFFER_BYTES) await this.flush();
    }
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.file.close();
    }
  }

  private async flush(): Promise<void> {
    for (let at = 0; at < this.filled; ) {
      const { bytesWritten } = await this.file.write(this.buffer, at, this.filled - at);
      at += bytesWritten;
    }
    this.filled = 0;
  }
}
