/** Reads a request body within a limit, before anything else looks at it. */
import { AppError, invalidInput } from "../lib/errors/app-error.ts";
import type { ApiContext } from "./create-api.ts";

const tooLarge = (limitBytes: number) =>
  new AppError("too_large", `The request body is larger than ${limitBytes} bytes`, {
    hint: "A schematic is a few kilobytes; send only the schematic document",
    retryable: false,
  });

/** The body as bytes; too_large above the limit, told by Content-Length where there is one. */
export async function readBody(c: ApiContext, limitBytes: number): Promise<Uint8Array> {
  const { incoming } = c.env;
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const arriving: AsyncIterable<Buffer> = incoming;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of arriving) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

/** The body as text, within the same limit. */
export async function readText(c: ApiContext, limitBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBody(c, limitBytes));
}

/** The body as JSON; `hint` shows what is sent, `whenEmpty` is the value of an empty body where there may be none. */
export async function readJson(
  c: ApiContext,
  { limitBytes, hint, whenEmpty }: { limitBytes: number; hint: string; whenEmpty?: unknown },
): Promise<unknown> {
  const text = await readText(c, limitBytes);
  if (whenEmpty !== undefined && text.trim() === "") return whenEmpty;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidInput("The body is not JSON", { hint, cause });
  }
}
