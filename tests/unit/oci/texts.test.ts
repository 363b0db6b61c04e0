import { describe, expect, test } from "vitest";
import { parseChallenges } from "../../../lib/oci/challenge.ts";
import { parseReference } from "../../../lib/oci/reference.ts";
import { backoffMs, DEFAULT_RETRY, parseRetryAfter } from "../../../lib/oci/retry.ts";
import { nextPageQuery, parseTagPage } from "../../../lib/oci/tag-page.ts";
import { refusal } from "../../fixtures/refusal.ts";

const HEX = "a".repeat(64);

describe("image references", () => {
  test.each([
    [
      "ghcr.io/siderolabs/gvisor:20250505.0-v1.9.5",
      "ghcr.io",
      "siderolabs/gvisor",
      "20250505.0-v1.9.5",
      null,
    ],
    [`ghcr.io/siderolabs/gvisor:1@sha256:${HEX}`, "ghcr.io", "siderolabs/gvisor", "1", `sha256:${HEX}`],
    ["siderolabs/imager", null, "siderolabs/imager", null, null],
    ["localhost/a:1", "localhost", "a", "1", null],
    ["127.0.0.1:5005/a/b_c.d--e", "127.0.0.1:5005", "a/b_c.d--e", null, null],
    ["[::1]:5000/a:t", "[::1]:5000", "a", "t", null],
  ])("splits %s", (text, registry, repository, tag, digest) => {
    expect(parseReference(text)).toEqual({ registry, repository, tag, digest });
  });

  test.each([
    "",
    "ghcr.io/",
    "ghcr.io/A/b",
    "a/../b:1",
    "a//b",
    "a:",
    "a:b c",
    "a@sha256:123",
    `a@sha512:${HEX}${HEX}`,
    "a@",
    "ghcr.io:x/a",
    "a/b?x=1",
    `a:${"t".repeat(129)}`,
    "a".repeat(256),
  ])("refuses %j and shows it", (text) => {
    const error = refusal(() => parseReference(text));
    expect(error.code).toBe("invalid_input");
    expect(error.message).toContain(JSON.stringify(text.slice(0, 300)));
  });
});

describe("WWW-Authenticate", () => {
  test("reads several challenges, quoted commas, escapes and odd spacing", () => {
    const header =
      'Basic realm="a, \\"b\\"" ,Bearer realm = "https://auth.example/token?x=1,2",service=reg.example,scope="repository:a/b:pull,push"';
    expect(parseChallenges(header)).toEqual([
      { scheme: "basic", parameters: { realm: 'a, "b"' } },
      {
        scheme: "bearer",
        parameters: {
          realm: "https://auth.example/token?x=1,2",
          service: "reg.example",
          scope: "repository:a/b:pull,push",
        },
      },
    ]);
  });

  test.each(["", "  ,", '"', "Bearer realm=", 'Bearer realm="unfinished', "=x"])("survives %j", (header) => {
    expect(parseChallenges(header).every((one) => Object.keys(one.parameters).length === 0)).toBe(true);
  });
});

describe("pauses", () => {
  test("reads Retry-After as seconds and as a date", () => {
    const now = Date.parse("Tue, 28 Oct 2025 10:00:00 GMT");
    expect(parseRetryAfter("7", now)).toBe(7000);
    expect(parseRetryAfter("Tue, 28 Oct 2025 10:01:00 GMT", now)).toBe(60_000);
    expect(parseRetryAfter("Tue, 28 Oct 2025 09:00:00 GMT", now)).toBe(0);
    expect(parseRetryAfter("soon", now)).toBeUndefined();
    expect(parseRetryAfter(null, now)).toBeUndefined();
  });

  test("grow exponentially with jitter up to the limit", () => {
    expect([1, 2, 3, 4].map((tries) => backoffMs(DEFAULT_RETRY, tries, 1))).toEqual([300, 600, 1200, 2400]);
    expect(backoffMs(DEFAULT_RETRY, 1, 0)).toBe(150);
    expect(backoffMs(DEFAULT_RETRY, 30, 1)).toBe(DEFAULT_RETRY.maxDelayMs);
  });
});

describe("tag pages", () => {
  test("takes the query of the next page only, whatever host it names", () => {
    expect(nextPageQuery('</v2/a/tags/list?last=v1&n=2>; rel="next"')).toBe("last=v1&n=2");
    expect(nextPageQuery("<http://other:1/x?last=v%2B1>; rel=next")).toBe("last=v%2B1");
    expect(nextPageQuery('</first?a=1>; rel="first", </v2?b=2>; title="x"; rel="next"')).toBe("b=2");
    expect(nextPageQuery('</v2/a?x=1>; rel="prev"')).toBeNull();
    expect(nextPageQuery(null)).toBeNull();
  });

  test("drops what cannot be a tag and refuses what is no list", () => {
    const page = (json: unknown) => Buffer.from(JSON.stringify(json));
    expect(parseTagPage("x", page({ tags: ["v1.0.0", "../x", "a b"] }))).toEqual(["v1.0.0"]);
    expect(parseTagPage("x", page({ tags: null }))).toEqual([]);
    expect(refusal(() => parseTagPage("the tags of a", page([]))).message).toContain("the tags of a");
  });
});
