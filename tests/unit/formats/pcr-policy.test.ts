import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import {
  bankDigests,
  extendRegister,
  isMeasured,
  pcrPolicy,
  pcrSignatureText,
  pcrValue,
} from "../../../lib/formats/pcr-policy.ts";

const NAMES = [
  ...[".linux", ".osrel", ".cmdline", ".initrd", ".ucode", ".splash", ".dtb"],
  ...[".uname", ".sbat", ".pcrpkey", ".profile", ".dtbauto", ".hwids"],
];
/** Every section holds its own name; given in another order than the measured one. */
const SECTIONS = new Map([...NAMES].reverse().map((name) => [name, bankDigests(utf8ToBytes(name))]));

describe("G81: the policy over PCR 11", () => {
  it.each([
    ["sha256", "c0c4f61f8ac39267a7638cde8029b82a0ccd378b2acbfdffb77ee1f0f9d464ec"],
    ["sha384", "e8f6311e36f9ee038df65255ae7c471d1d1f91ce742b98a152be72337f6c937d"],
    ["sha512", "207a8217158f9cc521dca50358a593dc61ed9308ef27da9df4ef64d634309160"],
  ] as const)("has the known digest in the bank %s", (bank, policy) => {
    expect(bytesToHex(pcrPolicy(bank, SECTIONS))).toBe(policy);
  });

  it("is made from the known register value", () => {
    expect(bytesToHex(pcrValue("sha256", SECTIONS))).toBe(
      "535f91bd7887cccefedd0b0344b3ce7d4fc390f356b276960547502657258839",
    );
  });

  it("changes with any one section", () => {
    for (const name of NAMES) {
      const changed = new Map(SECTIONS).set(name, bankDigests(utf8ToBytes("other")));
      expect(bytesToHex(pcrPolicy("sha256", changed)), name).not.toBe(
        bytesToHex(pcrPolicy("sha256", SECTIONS)),
      );
    }
  });
});

it("G80 extends a register as a TPM does", () => {
  const extend = (register: Uint8Array, text: string) =>
    extendRegister("sha256", register, bankDigests(utf8ToBytes(text)).sha256);
  const foo = extend(new Uint8Array(32), "foo");
  expect(bytesToHex(foo)).toBe("424816d020cf3d793ac021da47379bdf608080a83eb9364a7fbe0bdfa87111d7");
  expect(bytesToHex(extend(foo, "bar"))).toBe(
    "635c18b15ef5c5d6c020e72339ddefd8b05c4c4a44b34eff8cef226f89027702",
  );
});

describe("measured sections", () => {
  it("are those of the list, never the signature itself", () => {
    expect(NAMES.every(isMeasured)).toBe(true);
    expect([".pcrsig", ".text", ".data"].some(isMeasured)).toBe(false);
  });
});

describe("text of a .pcrsig section", () => {
  it("is compact, with its keys in the order readers know", () => {
    const entry = (bank: "sha256" | "sha384" | "sha512") => ({
      bank,
      policy: Uint8Array.of(1, 2),
      signature: Uint8Array.of(255, 254),
    });
    const one = '[{"pcrs":[11],"pkfp":"aabb","pol":"0102","sig":"//4="}]';
    expect(
      pcrSignatureText(Uint8Array.of(0xaa, 0xbb), [entry("sha256"), entry("sha384"), entry("sha512")]),
    ).toBe(`{"sha256":${one},"sha384":${one},"sha512":${one}}`);
  });
});
