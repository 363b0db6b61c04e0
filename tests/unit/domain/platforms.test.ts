/** Platform, board and naming tables. */
import { describe, expect, it } from "vitest";
import { BOARDS, findBoard, findBoardByOverlay } from "../../../lib/domain/boards.ts";
import { contentTypeOf } from "../../../lib/domain/content-type.ts";
import { kernelPlatform } from "../../../lib/domain/platform-arguments.ts";
import { diskProfile, findPlatform, PLATFORMS, platformNames } from "../../../lib/domain/platforms.ts";
import { talosGuide } from "../../../lib/domain/talos-guides.ts";
import { parseVersion } from "../../../lib/domain/versions.ts";

it("guides of platforms and boards are pages of the release", () => {
  const paths = [...PLATFORMS, ...BOARDS].flatMap(({ documentation }) => documentation ?? []);
  expect(paths).toHaveLength(33);
  for (const path of paths)
    expect(talosGuide("v1.13.2", path)).toMatch(
      /^https:\/\/docs\.siderolabs\.com\/talos\/v1\.13(\/[a-z0-9_-]+)+$/,
    );
});

describe("platforms", () => {
  it("has metal first and eighteen clouds with a command line each", () => {
    expect(PLATFORMS[0]?.name).toBe("metal");
    expect(PLATFORMS).toHaveLength(19);
    expect(platformNames()).toEqual([...new Set(platformNames())]);
    for (const { name } of PLATFORMS) expect(kernelPlatform(name)).toBe(name);
  });

  it.each(PLATFORMS.map((platform) => [platform.name, platform] as const))(
    "%s is well formed",
    (_name, platform) => {
      expect(platform.label).not.toBe("");
      expect(platform.architectures.every((arch) => ["amd64", "arm64"].includes(arch))).toBe(true);
      expect(platform.architectures.length).toBeGreaterThan(0);
      expect(platform.bootMethods.every((method) => ["iso", "disk-image", "pxe"].includes(method))).toBe(
        true,
      );
      expect(platform.bootMethods.includes("disk-image")).toBe(platform.diskImageSuffix !== null);
      if (platform.minVersion !== null) expect(parseVersion(platform.minVersion)).not.toBeNull();
      if (platform.disk !== null) {
        expect(["raw", "qcow2", "vhd", "ova"]).toContain(platform.disk.format);
        expect(["raw", ".tar.gz", ".gz", ".xz", ".zst"]).toContain(platform.disk.outFormat);
      }
    },
  );

  it("G67 knows the disks of aws, exoscale and vmware", () => {
    expect(findPlatform("aws")?.disk).toEqual({
      format: "raw",
      outFormat: ".zst",
      sizeBytes: 8589934592,
      formatOptions: "",
    });
    expect(findPlatform("exoscale")?.disk).toMatchObject({
      format: "qcow2",
      sizeBytes: 10737418240,
      formatOptions: "cluster_size=8k",
    });
    expect(findPlatform("vmware")?.disk).toMatchObject({ format: "ova", outFormat: "raw" });
  });

  it("applies the platform's options to every format, and qcow2's to platforms without", () => {
    expect(diskProfile("azure", "raw").formatOptions).toBe("subformat=fixed,force_size");
    expect(diskProfile("metal", "qcow2").formatOptions).toBe("cluster_size=8k");
    expect(diskProfile("unheard-of", "raw")).toEqual({
      format: "raw",
      sizeBytes: 8589934592,
      formatOptions: "",
    });
  });
});

describe("boards", () => {
  it("are found by name and by what a schematic stores", () => {
    expect(new Set(BOARDS.map(({ name }) => name)).size).toBe(BOARDS.length);
    expect(findBoard("nanopi_r4s")?.overlayName).toBe("nanopi-r4s");
    expect(findBoardByOverlay({ name: "nanopi-r4s", image: "siderolabs/sbc-rockchip" })?.name).toBe(
      "nanopi_r4s",
    );
    expect(findBoardByOverlay({ name: "nanopi-r4s", image: "siderolabs/sbc-raspberrypi" })).toBeNull();
    expect([findBoard("nothing"), BOARDS.length]).toEqual([null, 29]);
  });
});

describe("names and types", () => {
  it.each([
    ["kernel-amd64", "application/octet-stream"],
    ["initramfs-amd64.xz", "application/x-xz"],
    ["metal-amd64.iso", "application/x-iso9660-image"],
    ["metal-amd64-uki.efi", "application/efi"],
    ["installer-amd64.tar", "application/x-tar"],
    ["metal-amd64.raw.zst", "application/zstd"],
    ["metal-amd64.qcow2", "application/x-qemu-disk"],
    ["gcp-amd64.raw.tar.gz", "application/gzip"],
    ["vmware-amd64.ova", "application/octet-stream"],
    ["azure-amd64.vhd", "application/octet-stream"],
    ["metal-amd64.raw", "application/octet-stream"],
    ["x.constructor", "application/octet-stream"],
  ])("%s is %s", (path, type) => expect(contentTypeOf(path)).toBe(type));
});
