/** Golden command lines and the parameter algebra behind them. */
import { describe, expect, it } from "vitest";
import type { AssetProfile } from "../../lib/domain/asset.ts";
import { Cmdline, composeCmdline } from "../../lib/domain/cmdline.ts";
import type { MetaValue } from "../../lib/domain/recipe-types.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Golden {
  id: string;
  platform: string;
  arch: AssetProfile["arch"];
  version: string;
  kind: AssetProfile["kind"];
  secureboot: boolean;
  extraKernelArgs: string[];
  meta: MetaValue[];
  overlayArguments: string[];
  expected: string;
}

const golden = vectorFile<Golden[]>("command-line-golden.json");

function line(row: Omit<Golden, "id" | "expected">): string {
  const { platform, arch, kind, secureboot, version, extraKernelArgs, meta, overlayArguments } = row;
  const profile: AssetProfile = { kind, platform, arch, secureboot, outFormat: "raw" };
  return composeCmdline({ version, profile, meta, extraKernelArgs }, overlayArguments);
}

describe("golden command lines", () => {
  it("has 44 of them", () => expect(golden).toHaveLength(44));

  it.each(golden)("$id $platform $arch $version $kind", (row) => {
    expect(line(row)).toBe(row.expected);
  });

  it("G10 ignores the pre-release, and reads an unreadable version as the newest", () => {
    const [row] = golden.filter(({ id }) => id === "G8");
    if (row === undefined) throw new Error("no G8");
    expect(line({ ...row, version: "v1.14.0-alpha.1" })).toBe(row.expected);
    expect(line({ ...row, version: "unreadable" })).toBe(row.expected);
  });

  it("keeps lockdown for pre-releases of 1.14 with SecureBoot, and drops it in the final release", () => {
    const secure = { ...golden[0], kind: "uki", secureboot: true } as Golden;
    for (const version of ["v1.13.9", "v1.14.0-alpha.1", "v1.14.0-beta.1", "v1.14.0-rc.1"]) {
      expect(line({ ...secure, version }), version).toContain(" lockdown=confidentiality");
    }
    for (const version of ["v1.14.0", "v1.14.1", "v1.15.0-alpha.0"]) {
      expect(line({ ...secure, version }), version).not.toContain("lockdown");
    }
  });

  it("prints equinixMetal for its old name packet", () => {
    const [row] = golden.filter(({ id }) => id === "G27");
    if (row === undefined) throw new Error("no G27");
    expect(line({ ...row, platform: "packet" })).toBe(row.expected);
  });
});

describe("parameter algebra", () => {
  const base = () => Cmdline.parse("console=tty0 console=ttyS0 root=/dev/sdb");
  const overwrite = ["console"];

  it("G46 replaces all values of a key in place", () => {
    const cmdline = Cmdline.parse("root=/dev/sdb root=/dev/sdc aye=sir").setAll(["root=/dev/mmcblk0"]);
    expect(cmdline.toString()).toBe("root=/dev/mmcblk0 aye=sir");
  });

  it("G47 appends next to the values that are there", () => {
    expect(base().appendAll(["console=tty0", "console=ttyS1,115200", "nogui"]).toString()).toBe(
      "console=tty0 console=ttyS0 console=tty0 console=ttyS1,115200 root=/dev/sdb nogui",
    );
  });

  it("G48 overwrites the keys that are meant to be overwritten", () => {
    expect(
      base().appendAll(["console=tty0", "console=ttyS1,115200", "nogui"], { overwrite }).toString(),
    ).toBe("console=tty0 console=ttyS1,115200 root=/dev/sdb nogui");
  });

  it("G49 negates before it adds, and what is added then comes last", () => {
    const args = ["-console", "nogui", "console=ttyAMA0"];
    expect(base().appendAll(args, { overwrite, deleteNegated: true }).toString()).toBe(
      "root=/dev/sdb nogui console=ttyAMA0",
    );
  });

  it("G50 drops the line end and the sign of an empty value", () => {
    expect(Cmdline.parse("a=1 b c=\n").toString()).toBe("a=1 b c");
  });

  it("G51 groups repeats at the first place", () => {
    expect(Cmdline.parse("a=1 b=2 a=3").toString()).toBe("a=1 a=3 b=2");
  });

  it("G52 takes quotes as letters and splits at the first sign", () => {
    const cmdline = Cmdline.parse('a="x y" k=v=w');
    expect(cmdline.toString()).toBe('a="x y" k=v=w');
    expect(cmdline.keys()).toEqual(["a", 'y"', "k"]);
    expect(cmdline.values("k")).toEqual(["v=w"]);
  });

  it("removes every listed value and keeps the place of the emptied key", () => {
    const cmdline = Cmdline.parse("a=1 b=2 a=3 a=1 c").appendAll(["-a=1", "-a=3"], { deleteNegated: true });
    expect(cmdline.toString()).toBe("b=2 c");
    expect(cmdline.append("a", "4").toString()).toBe("a=4 b=2 c");
  });

  it("splits at Unicode white space but not at a byte order mark", () => {
    expect(Cmdline.parse("a\u0085b\u00a0c\u2003d\ufeffe").keys()).toEqual(["a", "b", "c", "d\ufeffe"]);
  });
});
