import { describe, expect, it } from "vitest";
import { AppError, invalidInput } from "../../../lib/errors/app-error.ts";
import { dialectOf, failureReply } from "../../../lib/http/failure.ts";

describe("failure replies", () => {
  it("sends the message of a refused request as it is, plus a newline", () => {
    const reply = failureReply(invalidInput("schematic is odd", { hint: "mend it" }), "text", "r1");
    expect(reply).toMatchObject({ status: 400, body: "schematic is odd\n" });
    expect(reply.headers).toMatchObject({
      "Content-Type": "text/plain; charset=utf-8",
      "X-Content-Type-Options": "nosniff",
      "X-Error-Code": "invalid_input",
      "X-Error-Hint": "mend it",
    });
  });

  it("names the request in every 5xx and hides a foreign cause", () => {
    const reply = failureReply(new TypeError("secret /root/.ssh"), "text", "req-7");
    expect(reply.status).toBe(500);
    expect(reply.body).toContain("req-7");
    expect(reply.body).not.toContain("secret");
  });

  it("asks to come back when the source is away", () => {
    const away = new AppError("upstream_unavailable", "ghcr.io does not answer");
    expect(failureReply(away, "text", "r").headers["Retry-After"]).toBe("10");
    const known = new AppError("upstream_unavailable", "x", { retryAfterSeconds: 42 });
    expect(failureReply(known, "text", "r").headers["Retry-After"]).toBe("42");
    const damaged = failureReply(new AppError("source_invalid", "x"), "oci", "r");
    expect(damaged).toMatchObject({ status: 502, headers: { "Retry-After": "30" } });
    expect(failureReply(new AppError("timed_out", "x"), "text", "r").headers["Retry-After"]).toBe("30");
    expect(failureReply(new AppError("tool_failed", "x"), "text", "r").headers).not.toHaveProperty(
      "Retry-After",
    );
  });

  it("links the build report", () => {
    const failed = new AppError("build_failed", "xorriso failed", { details: { buildId: "b1" } });
    expect(failureReply(failed, "text", "r").headers.Link).toBe('</api/v1/builds/b1>; rel="describedby"');
  });

  it("speaks problem+json below /api and OCI below /v2", () => {
    expect(dialectOf("/api/v1/builds")).toBe("problem");
    expect(dialectOf("/v2/x")).toBe("oci");
    expect(dialectOf("/versions")).toBe("text");
    const error = new AppError("not_found", "build b does not exist", { hint: "look", details: { a: 1 } });
    expect(JSON.parse(failureReply(error, "problem", "r9").body)).toMatchObject({
      status: 404,
      detail: "build b does not exist",
      hint: "look",
      requestId: "r9",
    });
    expect(JSON.parse(failureReply(error, "oci", "r9").body)).toEqual({
      errors: [
        {
          code: "MANIFEST_UNKNOWN",
          message: "build b does not exist",
          detail: { code: "not_found", hint: "look", requestId: "r9", a: 1 },
        },
      ],
    });
  });
});
