/** Errors of another bundle, and addresses that a form may lead to. */
import { describe, expect, it } from "vitest";
import { localPath } from "../../../app/form-request.ts";
import { unlessAway } from "../../../app/unless-away.ts";
import { AppError, notFound } from "../../../lib/errors/app-error.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";

describe("isAppError", () => {
  it("knows an error whose class is a copy", () => {
    const copy = Object.assign(new Error("x"), { name: "AppError", code: "not_found", extra: {} });
    expect(isAppError(copy)).toBe(true);
    expect(isAppError(notFound("x"))).toBe(true);
    expect(isAppError(new Error("x"))).toBe(false);
    expect(isAppError("AppError")).toBe(false);
  });
});

describe("what the source offers", () => {
  it("is nothing while the source was never reached; other failures stay failures", async () => {
    const away = Promise.reject(new AppError("upstream_unavailable", "away"));
    expect(await unlessAway(away, ["none"])).toEqual(["none"]);
    expect(await unlessAway(Promise.resolve(["v1.13.2"]), [])).toEqual(["v1.13.2"]);
    await expect(unlessAway(Promise.reject(new AppError("internal", "broken")), [])).rejects.toThrow(
      "broken",
    );
  });
});

describe("localPath", () => {
  it.each([
    ["/builds?state=failed", "/builds?state=failed"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example", "/"],
    ["/a b", "/"],
    [null, "/"],
  ])("of %s is %s", (text, path) => {
    expect(localPath(text)).toBe(path);
  });
});
