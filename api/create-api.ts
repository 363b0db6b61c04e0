/** The Hono app every resource file starts from: typed variables, one error handler, one way to refuse bad parameters. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { OpenAPIHono, type RouteConfig, type RouteHandler } from "@hono/zod-openapi";
import type { Context } from "hono";
import { invalidInput } from "../lib/errors/app-error.ts";
import { dialectOf, failureReply, toAppError } from "../lib/http/failure.ts";
import type { Services } from "../lib/services/contracts.ts";
import { nameFailure } from "../lib/services/failures.ts";

export interface ApiEnv {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse };
  Variables: { services: Services; publicUrl: string; onFailure: FailureListener };
}

export type ApiContext = Context<ApiEnv>;

export const requestIdOf = (c: ApiContext): string =>
  c.env.incoming.headers["x-request-id"]?.toString() ?? "";

/** Hears of failures that are ours (5xx); set once by the server. */
export type FailureListener = (error: unknown, entry: { requestId: string; path: string }) => void;

/** An empty app with our conventions; `onFailure` is told of every 5xx with its cause. */
export function createApi(onFailure?: FailureListener) {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (result.success) return;
      const issues = result.error.issues
        .slice(0, 3)
        .map((i) => `${i.path.join(".") || "input"}: ${i.message}`);
      throw invalidInput(`The request is not valid: ${issues.join("; ")}`, {
        hint: "See /openapi.json for the accepted values",
      });
    },
  });
  app.onError((thrown, c) => {
    const error = nameFailure(thrown);
    const requestId = c.env.incoming.headers["x-request-id"]?.toString() ?? "";
    const reply = failureReply(error, dialectOf(c.req.path), requestId);
    if (toAppError(error).status >= 500) onFailure?.(error, { requestId, path: c.req.path });
    return new Response(c.req.method === "HEAD" ? null : reply.body, {
      status: reply.status,
      headers: { ...reply.headers, "Content-Length": String(Buffer.byteLength(reply.body)) },
    });
  });
  return app;
}

export type Api = ReturnType<typeof createApi>;

/**
 * Adds a documented route. Handlers answer with finished bytes (exact length, kept encodings), which the
 * response types of the description cannot express; this is the one place that says so.
 */
export function answer<R extends RouteConfig>(
  app: Api,
  route: R,
  handler: (c: Parameters<RouteHandler<R, ApiEnv>>[0]) => Response | Promise<Response>,
): void {
  app.openapi(route, (c) => handler(c) as never);
}
