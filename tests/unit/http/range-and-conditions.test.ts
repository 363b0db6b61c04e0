import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate } from "../../../lib/http/range-and-conditions.ts";

const ETAG = '"abc"';

describe("ranges and conditions (RFC 9110)", () => {
  it.each([
    ["bytes=0-0", { start: 0, end: 0 }],
    ["bytes=5-", { start: 5, end: 99 }],
    ["bytes=90-200", { start: 90, end: 99 }],
    ["bytes=-10", { start: 90, end: 99 }],
    ["bytes=-500", { start: 0, end: 99 }],
  ])("%s of 100 bytes is a part", (range, want) => {
    expect(evaluate({ range }, ETAG, 100)).toEqual({ status: 206, range: want });
  });

  it.each(["bytes=100-", "bytes=100-105", "bytes=-0"])("%s of 100 bytes cannot be satisfied", (range) => {
    expect(evaluate({ range }, ETAG, 100)).toEqual({ status: 416 });
  });

  it.each(["bytes=0-1,5-6", "items=0-1", "bytes=5-1", "bytes=-", "bytes=a-b", "0-5"])(
    "%s is ignored",
    (range) => {
      expect(evaluate({ range }, ETAG, 100)).toEqual({ status: 200 });
    },
  );

  it("honours If-Range only for the same strong tag", () => {
    expect(evaluate({ range: "bytes=0-1", ifRange: ETAG }, ETAG, 9).status).toBe(206);
    expect(evaluate({ range: "bytes=0-1", ifRange: '"other"' }, ETAG, 9).status).toBe(200);
    expect(evaluate({ range: "bytes=0-1", ifRange: `W/${ETAG}` }, ETAG, 9).status).toBe(200);
    expect(evaluate({ range: "bytes=0-1", ifRange: "Wed, 21 Oct 2015 07:28:00 GMT" }, ETAG, 9).status).toBe(
      200,
    );
  });

  it.each([ETAG, `W/${ETAG}`, `"x", ${ETAG}`, "*"])("If-None-Match %s is not modified", (ifNoneMatch) => {
    expect(evaluate({ ifNoneMatch, range: "bytes=0-1" }, ETAG, 9).status).toBe(304);
  });

  it("refuses a failed If-Match", () => {
    expect(evaluate({ ifMatch: '"x"' }, ETAG, 9).status).toBe(412);
    expect(evaluate({ ifMatch: ETAG }, ETAG, 9).status).toBe(200);
  });

  it("never leaves the file", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat({ max: 1000 }), (tail, size) => {
        const answer = evaluate({ range: `bytes=${tail}` }, ETAG, size);
        if (answer.status === 206) {
          expect(answer.range.start).toBeGreaterThanOrEqual(0);
          expect(answer.range.end).toBeLessThan(size);
          expect(answer.range.start).toBeLessThanOrEqual(answer.range.end);
        }
      }),
    );
  });
});
