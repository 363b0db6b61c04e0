/** Reads a request body within a limit, before anything else looks at it. */
import { AppError, invalidInput } from "../lib/errors/app-error.ts";
import type { ApiContext } from "./create-api.ts";

/** What a route takes: `hint` tells what to send, in answer to a body that is too large or cannot be read. */
export interface BodyRule {
  limitBytes: number;
  hint: string;
}

const tooLarge = ({ limitBytes, hint }: BodyRule) =>
  new AppError("too_large", `The request body is larger than ${limitBytes} bytes`, {
    hint,
    retryable: false,
  });

/** The body as bytes; too_large above the limit, told by Content-Length where there is one. */
export async function readBody(c: ApiContext, rule: BodyRule): Promise<Uint8Array> {
  const { incoming } = c.env;
  if (Number(incoming.headers["content-length"] ?? 0) > rule.limitBytes) throw tooLarge(rule);
  const arriving: AsyncIterable<Buffer> = incoming;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of arriving) {
    size += chunk.length;
    if (size > rule.limitBytes) throw tooLarge(rule);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

/** The body as text, within the same limit. */
export async function readText(c: ApiContext, rule: BodyRule): Promise<string> {
  return new TextDecoder().decode(await readBody(c, rule));
}

/** The body as JSON; `whenEmpty` is the value of an empty body where there may be none. */
export async function readJson(
  c: ApiContext,
  { whenEmpty, ...rule }: BodyRule & { whenEmpty?: unknown },
): Promise<unknown> {
  const text = await readText(c, rule);
  if (whenEmpty !== undefined && text.trim() === "") return whenEmpty;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidInput("The body is not JSON", { hint: rule.hint, cause });
  }
}
