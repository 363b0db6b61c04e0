/** META values: on the command line and in the partition of a disk image. */
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeMeta, encodeMeta, metaEnvironment } from "../../../lib/domain/meta-env.ts";
import { checkMetaPartition } from "../../../lib/domain/meta-partition.ts";
import { metaPartition } from "../../../lib/formats/adv.ts";
import { refusal } from "../../fixtures/refusal.ts";

const text = (base64: string) => Buffer.from(base64, "base64").toString("utf8");
const value = (length: number) => [{ key: 10, value: "a".repeat(length) }];

describe("META on the command line", () => {
  it("G53 joins hex keys and values", () => {
    expect(
      encodeMeta(
        [
          { key: 10, value: "foo" },
          { key: 11, value: "bar" },
        ],
        "v1.13.0",
      ),
    ).toBe("MHhhPWZvbzsweGI9YmFy");
    expect(text(encodeMeta([{ key: 10, value: "foo" }], "v1.13.0"))).toBe("0xa=foo");
    expect(metaEnvironment([{ key: 10, value: '{"externalIPs":["1.2.3.4"]}' }], "v1.13.0")).toBe(
      "INSTALLER_META_BASE64=MHhhPXsiZXh0ZXJuYWxJUHMiOlsiMS4yLjMuNCJdfQ==",
    );
  });

  it("G54 packs long texts from 1.6.3 on", () => {
    const packed = encodeMeta(value(300), "v1.6.3");
    expect(packed).toMatch(/^H4sI/);
    expect(gunzipSync(Buffer.from(packed, "base64")).toString()).toBe(`0xa=${"a".repeat(300)}`);
    expect(text(encodeMeta(value(300), "v1.6.2"))).toBe(`0xa=${"a".repeat(300)}`);
  });

  it("G55 leaves 256 bytes plain and packs 257, counted in bytes", () => {
    expect(encodeMeta(value(252), "v1.13.0")).not.toMatch(/^H4sI/);
    expect(encodeMeta(value(253), "v1.13.0")).toMatch(/^H4sI/);
    expect(encodeMeta([{ key: 10, value: "é".repeat(127) }], "v1.13.0")).toMatch(/^H4sI/);
  });

  it("gives the same bytes every time, without a time stamp", () => {
    const bytes = Buffer.from(encodeMeta(value(5000), "v1.13.0"), "base64");
    expect(bytes.subarray(4, 8)).toEqual(Buffer.alloc(4));
    expect(encodeMeta(value(5000), "v1.13.0")).toBe(bytes.toString("base64"));
  });

  it("refuses a value that the separator would cut, naming the key", () => {
    const thrown = refusal(() => encodeMeta([{ key: 12, value: "a;b" }], "v1.13.0"));
    expect(thrown.message).toBe(
      'META value of key 0xc contains ";", which cannot be passed on the kernel command line',
    );
    expect(thrown.status).toBe(400);
  });

  it("decodes what it encoded", () => {
    const values = fc.record({
      key: fc.nat(255),
      value: fc.string({ unit: "binary", maxLength: 400 }).filter((item) => !item.includes(";")),
    });
    fc.assert(
      fc.property(
        fc.array(values, { minLength: 1, maxLength: 5 }),
        fc.constantFrom("1.6.2", "1.14.0"),
        (meta, version) => {
          expect(decodeMeta(encodeMeta(meta, version))).toEqual(meta);
        },
      ),
    );
  });

  it("reads keys in hex, octal and decimal, and values with signs in them", () => {
    const read = (plain: string) => decodeMeta(Buffer.from(plain).toString("base64"));
    expect(read("0xa=a=b;0o14=;13=c")).toEqual([
      { key: 10, value: "a=b" },
      { key: 12, value: "" },
      { key: 13, value: "c" },
    ]);
  });

  it.each([
    ["no base64", "%%%"],
    ["no sign", Buffer.from("0xa").toString("base64")],
    ["a key too large", Buffer.from("0x100=a").toString("base64")],
    ["a key that is none", Buffer.from("ten=a").toString("base64")],
    [
      "damaged gzip data",
      Buffer.from("1f8b0800000000000003ffffffff0000000010000000", "hex").toString("base64"),
    ],
    [
      "a size out of all bounds",
      Buffer.from("1f8b080000000000000303000000000000000000ff", "hex").toString("base64"),
    ],
  ])("refuses %s", (_name, base64) => {
    expect(refusal(() => decodeMeta(base64)).code).toBe("invalid_input");
  });
});

describe("META partition", () => {
  it("refuses what does not fit, the record of dual-boot included", () => {
    checkMetaPartition(value(262068), "sd-boot");
    expect(refusal(() => checkMetaPartition(value(262069), "sd-boot")).message).toBe(
      "META values take 262077 bytes, a disk image holds 262076",
    );
    checkMetaPartition(value(262051), "dual-boot");
    expect(refusal(() => checkMetaPartition(value(262052), "dual-boot")).code).toBe("invalid_input");
  });

  it("counts a repeated key once, and lets semicolons pass", () => {
    checkMetaPartition([...value(262068), ...value(10), { key: 11, value: "a;b" }], null);
  });

  it("refuses key 0, which would end the list", () => {
    expect(refusal(() => checkMetaPartition([{ key: 0, value: "" }], null)).message).toBe(
      "META key 0x0 cannot be stored in a disk image",
    );
  });

  it("holds exactly what the writer takes", () => {
    const records = (length: number) => [{ tag: 10, value: "a".repeat(length) }];
    expect(metaPartition(records(262068))).toHaveLength(1024 * 1024);
    expect(refusal(() => metaPartition(records(262069))).code).toBe("invalid_input");
  });
});
