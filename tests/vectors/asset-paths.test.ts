/** The table of asset names, and names as the imager writes them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ARCHES, type AssetProfile, type DiskFormat, type OutFormat } from "../../lib/domain/asset.ts";
import { assetFileName, imagerFileName, parseAssetPath, splitSidecar } from "../../lib/domain/asset-path.ts";
import { diskProfile, PLATFORMS } from "../../lib/domain/platforms.ts";
import { refusal } from "../fixtures/refusal.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Row {
  row: number;
  path: string;
  error?: string;
  kind?: AssetProfile["kind"];
  platform?: string;
  arch?: AssetProfile["arch"];
  secureboot?: boolean;
  format?: DiskFormat;
  outFormat?: OutFormat;
  sizeMiB?: number;
  formatOptions?: string;
}

const rows = vectorFile<Row[]>("asset-paths.json");
const refused = rows.filter((row) => row.error !== undefined);
const accepted = rows.filter((row) => row.error === undefined);

describe("asset names", () => {
  it("has 67 rows", () => expect([accepted.length, refused.length]).toEqual([45, 22]));

  it.each(accepted)("row $row: $path is $kind of $platform", (row) => {
    const { path, kind, platform, arch, secureboot } = row;
    const disk =
      row.format === undefined
        ? {}
        : {
            disk: {
              format: row.format,
              sizeBytes: (row.sizeMiB ?? 0) * 1024 * 1024,
              formatOptions: row.formatOptions ?? "",
            },
          };
    expect(parseAssetPath(path)).toEqual({
      kind,
      platform,
      arch,
      secureboot,
      outFormat: row.outFormat ?? "raw",
      ...disk,
    });
  });

  it.each(refused)("row $row: refuses $path", ({ path, error }) => {
    const thrown = refusal(() => parseAssetPath(path));
    expect(thrown.message).toBe(`error parsing profile from path: ${error}`);
    expect(thrown.status).toBe(400);
    expect(thrown.extra.hint).toContain("metal-amd64.iso");
  });

  it("quotes what does not print", () => {
    expect(refusal(() => parseAssetPath('metal-amd64.iso\u0000"\n')).message).toBe(
      'error parsing profile from path: invalid profile path: "metal-amd64.iso\\x00\\"\\n"',
    );
  });

  it("refuses a name without a platform, and disks of a platform called iso or installer", () => {
    expect(refusal(() => parseAssetPath("-amd64.iso")).message).toContain('invalid platform-arch: "-amd64"');
    expect(refusal(() => parseAssetPath("installer-amd64.qcow2.xz")).message).toContain(
      'invalid profile path: "installer-amd64.qcow2"',
    );
  });

  it("does not take names of object members for architectures", () => {
    for (const word of ["constructor", "__proto__", "toString"]) {
      expect(refusal(() => parseAssetPath(`kernel-${word}`)).message).toContain(
        `invalid architecture: "${word}"`,
      );
    }
  });

  it("never throws anything but a refusal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        for (const path of [
          text,
          `cmdline-${text}`,
          `${text}.iso`,
          `${text}.raw.xz`,
          `installer-${text}.tar`,
        ]) {
          try {
            parseAssetPath(path);
          } catch {
            expect(refusal(() => parseAssetPath(path)).code).toBe("invalid_input");
          }
        }
      }),
    );
  });
});

const profiles: fc.Arbitrary<AssetProfile> = fc
  .record({
    kind: fc.constantFrom("kernel", "cmdline", "initramfs", "iso", "uki", "installer", "image"),
    platform: fc.constantFrom(...PLATFORMS.map(({ name }) => name), "somecloud"),
    arch: fc.constantFrom(...ARCHES),
    secureboot: fc.boolean(),
    format: fc.constantFrom("raw", "qcow2", "vhd", "ova"),
    outFormat: fc.constantFrom("raw", ".tar.gz", ".gz", ".xz", ".zst"),
  } as const)
  .map(({ kind, platform, arch, secureboot, format, outFormat }) => {
    if (kind === "kernel" || kind === "initramfs") {
      return { kind, platform: "metal", arch, secureboot: false, outFormat: "raw" };
    }
    if (kind !== "image") return { kind, platform, arch, secureboot, outFormat: "raw" };
    return { kind, platform, arch, secureboot, outFormat, disk: diskProfile(platform, format) };
  });

describe("file names of profiles", () => {
  it("parse back to the same profile", () => {
    fc.assert(
      fc.property(profiles, (profile) => {
        expect(parseAssetPath(assetFileName(profile))).toEqual(profile);
      }),
      { numRuns: 500 },
    );
  });

  const named = (kind: AssetProfile["kind"], changes: Partial<AssetProfile> = {}): string =>
    imagerFileName({
      kind,
      platform: "metal",
      arch: "amd64",
      secureboot: false,
      outFormat: "raw",
      ...changes,
    });

  it("G61 are those of the imager", () => {
    expect(named("iso", { secureboot: true })).toBe("metal-amd64-secureboot.iso");
    expect(named("image", { platform: "azure", outFormat: ".zst", disk: diskProfile("azure", "vhd") })).toBe(
      "azure-amd64.vhd.zst",
    );
    expect(named("image", { platform: "gcp", outFormat: ".tar.gz", disk: diskProfile("gcp", "raw") })).toBe(
      "gcp-amd64.raw.tar.gz",
    );
    expect(named("image", { platform: "vmware", arch: "arm64", disk: diskProfile("vmware", "ova") })).toBe(
      "vmware-arm64.ova",
    );
    expect(named("installer", { arch: "arm64", platform: "aws" })).toBe("installer-arm64.tar");
    expect(named("initramfs")).toBe("initramfs-metal-amd64.xz");
    expect(named("uki", { secureboot: true })).toBe("metal-amd64-secureboot-uki.efi");
    expect(named("kernel")).toBe("kernel-amd64");
    expect(named("cmdline")).toBe("cmdline-metal-amd64");
  });
});

describe("sidecar suffixes", () => {
  it.each([
    ["metal-amd64.iso", "metal-amd64.iso", null],
    ["metal-amd64.iso.sha256", "metal-amd64.iso", "sha256"],
    ["metal-amd64.iso.sha512", "metal-amd64.iso", "sha512"],
    ["kernel-amd64.sigstore.json", "kernel-amd64", "sigstore"],
    ["kernel-amd64.sha256.sha512", "kernel-amd64.sha256", "sha512"],
    ["kernel-amd64.json", "kernel-amd64.json", null],
  ])("%s", (path, rest, sidecar) => {
    expect(splitSidecar(path)).toEqual({ path: rest, sidecar });
  });
});
