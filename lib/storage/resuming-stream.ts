/** One stream out of as many requests as it takes: a broken connection is continued where it stopped. */
import { Readable } from "node:stream";

export interface OpenBody {
  body: Readable;
  /** Bytes that are wanted of it; more is cut off (a server may overlook the end of a range). */
  sizeBytes: number;
  etag?: string;
}

export interface ResumingOptions {
  /** For error texts. */
  name: string;
  /** The reply that is open already. */
  first: OpenBody;
  /** Position of its first byte in the object. */
  start: number;
  /** Opens the rest; must fail when the object is another one by now. */
  reopen: (from: number, to: number) => Promise<OpenBody>;
  signal?: AbortSignal;
}

/** Tries in a row that bring not one byte further. */
const FRUITLESS_TRIES = 3;

/** Gives exactly first.sizeBytes bytes or fails; holds a few chunks only. Destroying it closes the connection. */
export function resumingStream(options: ResumingOptions): Readable {
  const { first, start, signal } = options;
  let current = first.body;
  let closed = false;

  async function* bytes(): AsyncGenerator<Buffer> {
    const end = start + first.sizeBytes;
    let position = start;
    let fruitless = 0;
    for (;;) {
      let failure: unknown;
      try {
        for await (const chunk of current) {
          const wanted = chunk.subarray(0, end - position);
          position += wanted.length;
          fruitless = 0;
          yield wanted;
          if (position === end) return;
        }
      } catch (error) {
        failure = error;
      }
      if (position === end) return;
      fruitless++;
      if (closed || signal?.aborted || fruitless > FRUITLESS_TRIES) {
        throw failure ?? new Error(`${options.name} ended ${end - position} bytes early`);
      }
      current = (await options.reopen(position, end - 1)).body;
    }
  }

  const out = Readable.from(bytes(), { objectMode: false, highWaterMark: 256 * 1024 });
  const onAbort = () => out.destroy(new Error("aborted"));
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  out.once("close", () => {
    closed = true;
    current.destroy();
    signal?.removeEventListener("abort", onAbort);
  });
  return out;
}
