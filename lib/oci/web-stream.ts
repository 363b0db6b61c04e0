/** From Node's streams to those of the web. */
import type { Readable } from "node:stream";

/** The stream as fetch takes and gives it; the types of Node's own conversion do not fit those of fetch. */
export function webStream(source: Readable): ReadableStream<Uint8Array> {
  const chunks = source.iterator();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void source.destroy(),
  });
}
