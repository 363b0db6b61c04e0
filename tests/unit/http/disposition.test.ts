import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attachment } from "../../../lib/http/disposition.ts";

describe("Content-Disposition", () => {
  it("names a plain file plainly", () => {
    expect(attachment("custom-filename.iso")).toBe('attachment; filename="custom-filename.iso"');
  });

  it.each([
    ['a";x.iso', 'attachment; filename="a__x.iso"'.replace("__x", "_;x")],
    ["../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'],
    ["a\0b", 'attachment; filename="a_b"'],
    ["", 'attachment; filename="download"'],
    ["..", 'attachment; filename="download"'],
  ])("makes %j safe", (name, header) => {
    expect(attachment(name)).toBe(header);
  });

  it("adds the RFC 8187 form for other alphabets", () => {
    expect(attachment("é€.iso")).toBe(
      "attachment; filename=\"__.iso\"; filename*=UTF-8''%C3%A9%E2%82%AC.iso",
    );
  });

  it("is one printable line for any name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const header = attachment(name);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect((header.match(/"/g) ?? []).length % 2).toBe(0);
        expect(header).not.toContain("/");
      }),
    );
  });
});
