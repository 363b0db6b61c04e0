/** Writes the events of one attempt: into the stream in small batches, and into a file that outlives the stream. */
import { createWriteStream, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { nextEventId, type StreamEvent } from "./event-id.ts";
import type { EventStreams } from "./event-stream.ts";
import type { BuildSignals } from "./signals.ts";

const FLUSH_MS = 200;
/** After a failure; Redis may be away for longer. */
const RETRY_MS = 1_000;
/** A flood of log lines must neither fill Redis nor the disk. */
const MOST_LOG_EVENTS = 20_000;
const HISTORY_LIMIT = 20_000;
/** While Redis is away the file goes on; readers of the stream lose what is older than this many events. */
const MOST_PENDING = 5_000;

export interface EventWriterOptions {
  buildId: string;
  streams: EventStreams;
  signals: BuildSignals;
  /** Path of the log file to write. */
  file: string;
  now: () => number;
  onError: (error: unknown) => void;
}

export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #file: WriteStream;
  #last = "0-0";
  #pending: StreamEvent[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #logEvents = 0;
  #closed = false;

  private constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#file = createWriteStream(options.file, { flags: "w" });
    this.#file.on("error", options.onError);
  }

  /** Opens the log and takes over what earlier attempts left in the stream. */
  static async open(options: EventWriterOptions): Promise<EventWriter> {
    const writer = new EventWriter(options);
    await writer.#takeOver();
    return writer;
  }

  add(type: StreamEvent["type"], data: Record<string, unknown>): void {
    if (type === "log") {
      this.#logEvents += 1;
      if (this.#logEvents > MOST_LOG_EVENTS) return;
    }
    this.#last = nextEventId(this.#last, this.#options.now());
    const event = { id: this.#last, type, data };
    this.#keep(event);
    this.#pending.push(event);
    if (this.#pending.length > MOST_PENDING) this.#pending.shift();
    this.#flushIn(FLUSH_MS);
  }

  #flushIn(ms: number): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => void this.flush(), ms);
  }

  /** Sends what waits; readers see it when this resolves. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#sending !== null) await this.#sending;
    if (this.#pending.length === 0) return;
    this.#sending = this.#send(this.#pending.splice(0));
    await this.#sending;
  }

  /** Sends what waits, adds what others wrote (a cancellation), and closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    await this.#takeOver();
    this.#file.end();
    await finished(this.#file).catch(this.#options.onError);
  }

  async #takeOver(): Promise<void> {
    try {
      const { streams, buildId } = this.#options;
      for (const event of await streams.readAfter(buildId, this.#last, HISTORY_LIMIT)) {
        this.#keep(event);
        this.#last = event.id;
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #keep(event: StreamEvent): void {
    this.#file.write(`${JSON.stringify(event)}\n`);
  }

  async #send(events: StreamEvent[]): Promise<void> {
    const { streams, signals, buildId, onError } = this.#options;
    try {
      await streams.appendAll(buildId, events);
      await signals.publish(buildId, "events");
    } catch (error) {
      onError(error);
      // Those that did arrive are dropped by the stream, which takes only newer ids.
      this.#pending = [...events, ...this.#pending].slice(-MOST_PENDING);
      this.#flushIn(RETRY_MS);
    } finally {
      this.#sending = null;
    }
  }
}
