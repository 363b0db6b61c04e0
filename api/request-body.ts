/** Reads a request body into text within a limit, before anything else looks at it. */
import { AppError, invalidInput } from "../lib/errors/app-error.ts";
import type { ApiContext } from "./create-api.ts";

const tooLarge = (limitBytes: number) =>
  new AppError("too_large", `The request body is larger than ${limitBytes} bytes`, {
    hint: "A schematic is a few kilobytes; send only the schematic document",
    retryable: false,
  });

/** The body as UTF-8 text. too_large above the limit, invalid_input for bytes that are no UTF-8. */
export async function readText(c: ApiContext, limitBytes: number): Promise<string> {
  const incoming = c.env.incoming;
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  const bytes = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidInput("go-yaml load error in reader at <unknown position>: invalid UTF-8", {
      hint: "Save the file as UTF-8",
    });
  }
}
