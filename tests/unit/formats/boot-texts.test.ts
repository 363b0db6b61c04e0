import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { espSectorsPerCluster, isoEspBytes } from "../../../lib/formats/esp-size.ts";
import { extensionsYaml, parseExtensionManifest } from "../../../lib/formats/extension-manifest.ts";
import { grubQuote } from "../../../lib/formats/grub-quote.ts";
import { type IsoDescription, xorrisoArguments } from "../../../lib/formats/iso-arguments.ts";
import { isoGrubConfig, isoVolumeId } from "../../../lib/formats/iso-texts.ts";
import { kernelRelease } from "../../../lib/formats/kernel-release.ts";
import { loaderConf } from "../../../lib/formats/loader-conf.ts";
import { osRelease } from "../../../lib/formats/os-release.ts";
import { isInVersionRange } from "../../../lib/formats/version-range.ts";
import { extensionOrder } from "../../../lib/imager/steps/extension-part.ts";
import { compareWalk } from "../../../lib/imager/steps/staging.ts";

const MIB = 1024 * 1024;

it.each([
  ["v1.7.6", "TALOS_V1_7_6"],
  ["v1.7.6-beta.0", "TALOS_V1_7_6_BETA_0"],
  ["v1.14.0-rc.1", "TALOS_V1_14_0_RC_1"],
  ["v1.13.0-alpha.0-17-gabcdef012-dirty", "TALOS_V1_13_0_ALPHA_0_17_GABCDEF"],
])("G60: the volume id of %s is %s", (version, id) => {
  expect(isoVolumeId(version)).toBe(id);
});

it("G70: eleven extensions are listed as strings: 10 before 2", () => {
  expect(extensionOrder(11)).toEqual([0, 1, 10, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("walks folders before their neighbours that only share the beginning of the name", () => {
  const paths = [
    "usr",
    "9.sqsh",
    "modules.dep.sqsh",
    "usr/lib",
    "usr.txt",
    "extensions.yaml",
    "10.sqsh",
    "usr/lib/firmware",
  ];
  expect(paths.sort(compareWalk)).toEqual([
    "10.sqsh",
    "9.sqsh",
    "extensions.yaml",
    "modules.dep.sqsh",
    "usr",
    "usr/lib",
    "usr/lib/firmware",
    "usr.txt",
  ]);
});

describe("G71: manifests", () => {
  it("refuses an empty manifest with the empty version", () => {
    expect(() => parseExtensionManifest("")).toThrow('unsupported manifest version: ""');
  });

  it("keeps versions that look like numbers as they are written", () => {
    const metadata = parseExtensionManifest("version: v1alpha1\nmetadata:\n  name: a\n  version: 1.10\n");
    expect(metadata.version).toBe("1.10");
    expect(metadata.compatibility).toEqual({ talos: { version: "" } });
  });

  it("names the place of a wrong type", () => {
    expect(() => parseExtensionManifest("version: v1alpha1\nmetadata: [a]\n")).toThrow("wrong at metadata");
  });

  it("writes a list that every YAML version reads back as text", () => {
    const metadata = {
      name: "no",
      version: "20250812",
      author: "a: b",
      description: "two\nlines\n",
      compatibility: { talos: { version: ">= v1.5.0" } },
    };
    const text = extensionsYaml([
      { image: "0.sqsh", metadata: { ...metadata, extraInfo: "customization: {}\n" } },
    ]);
    for (const version of ["1.1", "1.2"] as const) {
      expect(parse(text, { version })).toEqual({
        layers: [{ image: "0.sqsh", metadata: { ...metadata, extraInfo: "customization: {}\n" } }],
      });
    }
    expect(Object.keys(parse(text).layers[0].metadata)).toEqual([
      "name",
      "version",
      "author",
      "description",
      "compatibility",
      "extraInfo",
    ]);
  });
});

describe("G73: version ranges look at the core version only", () => {
  const alpha = { major: 1, minor: 14, patch: 0 };
  it.each([
    [">= v1.0.0", true],
    [">= v1.14.0", true],
    ["> v1.14.0", false],
    [">= v1.5.0 < v1.14.0", false],
    [">=1.5.0 <1.15.0", true],
    ["1.13.x || 1.14.x", true],
    ["1.13.x", false],
    ["!= 1.14.0", false],
    ["== 1.14.0", true],
    ["> 1.14.x", false],
    ["<= 1.14.x", true],
    ["*", true],
    [">= 1.14.0-rc.1", true],
  ])("%s", (range, expected) => {
    expect(isInVersionRange(range, alpha)).toBe(expected);
  });

  it.each(["about 1.5", ">=", "1.a.0", "1.2.3 ||", "> x"])("cannot read %s", (range) => {
    expect(isInVersionRange(range, alpha)).toBeNull();
  });
});

it("G79: os-release of Talos New v1.2.3", () => {
  const lines = osRelease("Talos New", "v1.2.3").split("\n");
  expect(lines.slice(0, 4)).toEqual([
    'NAME="Talos New"',
    "ID=talos_new",
    "VERSION_ID=v1.2.3",
    'PRETTY_NAME="Talos New (v1.2.3)"',
  ]);
  expect(lines).toHaveLength(9);
});

describe("kernel release", () => {
  const head = (pointer: number, text = "6.1.0-57-cloud-amd64 (a@b) #1\0") => {
    const bytes = Buffer.alloc(0x8000);
    bytes[0x1f1] = 0x1f;
    bytes.write("HdrS", 0x202);
    bytes.writeUInt16LE(pointer, 0x20e);
    bytes.write(text, pointer + 0x200);
    return bytes;
  };
  it("reads up to the first blank", () => expect(kernelRelease(head(0x3000))).toBe("6.1.0-57-cloud-amd64"));
  it("is null for a pointer of zero, one outside the setup, no end, another file", () => {
    expect(kernelRelease(head(0))).toBeNull();
    expect(kernelRelease(head(0x3e01))).toBeNull();
    expect(kernelRelease(head(0x3000, "x".repeat(300)))).toBeNull();
    expect(kernelRelease(Buffer.alloc(0x8000))).toBeNull();
    expect(kernelRelease(Buffer.alloc(10))).toBeNull();
  });
});

it("G87: GRUB quoting", () => {
  expect(grubQuote("foo\\")).toBe("foo\\\\");
  expect(grubQuote("foo\\$")).toBe("foo\\\\\\$");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the dollar signs are the point
  const url = "http://my-host/config.yaml?uuid=${uuid}&serial=${serial}&mac=${mac}&hostname=${hostname}";
  const quoted =
    "http://my-host/config.yaml?uuid=\\$\\{uuid\\}\\&serial=\\$\\{serial\\}\\&mac=\\$\\{mac\\}\\&hostname=\\$\\{hostname\\}";
  expect(grubQuote(url)).toBe(quoted);
  expect(isoGrubConfig(url, true)).toContain(
    `linux /boot/vmlinuz ${quoted} talos.experimental.wipe=system\n`,
  );
});

it("has a reset entry only where the release can reset itself", () => {
  expect(isoGrubConfig("a", false).match(/menuentry/g)).toHaveLength(1);
  expect(isoGrubConfig("a", true).match(/menuentry/g)).toHaveLength(2);
});

describe("G88 and G89: names and dates of an ISO", () => {
  const iso: IsoDescription = {
    variant: "hybrid",
    out: "o",
    grafts: [{ path: "a", source: "/x=y\\z" }],
    weights: "w",
    esp: "e",
    hybridMbr: "m",
    elToritoPath: "b",
    date: "2023111422132000",
    epoch: 1700000000,
    signed: false,
    label: null,
  };
  const tail = (changes: Partial<IsoDescription>) => {
    const args = xorrisoArguments({ ...iso, ...changes });
    return args.slice(args.indexOf("--") + 1).join(" ");
  };
  it("has no volume id before 1.8 and one after", () => {
    expect(tail({})).toBe("-volume_date all_file_dates =1700000000 -volume_date uuid 2023111422132000");
    expect(tail({ label: { volumeId: "TALOS_V1_8_0", volumeSetId: "Talos-v1.8.0" } })).toMatch(
      /-volid TALOS_V1_8_0 -volset-id Talos-v1\.8\.0$/,
    );
  });
  it("escapes the separator of graft points in paths", () => {
    expect(xorrisoArguments(iso)).toContain("a=/x\\=y\\\\z");
  });
});

it("G90: the ESP of a 100000 byte loader and a UKI of 100 MiB + 1 byte", () => {
  const size = isoEspBytes(100_000, 100 * MIB + 1);
  expect(size).toBe(112 * MIB);
  expect(espSectorsPerCluster(size)).toBe(2);
});

it.each([
  [65, 1],
  [66, 2],
  [131, 2],
  [132, 4],
  [263, 4],
  [264, 8],
  [4000, 8],
])("G91: %i MiB has %i sectors per cluster", (mib, expected) => {
  expect(espSectorsPerCluster(mib * MIB)).toBe(expected);
});

it("G92: loader.conf", () => {
  expect(loaderConf("off")).toMatch(/\n\nsecure-boot-enroll off\n$/);
  expect(loaderConf("if-safe")).toMatch(/secure-boot-enroll if-safe\n$/);
  expect(loaderConf(null)).toBe("# systemd-boot configuration\n\ntimeout 10\n");
});
