/** Profiles of the imager: what is read, inherited, filled in and refused. */
import { describe, expect, it } from "vitest";
import { exitCodeOf } from "../../../cli/exit-codes.ts";
import { imagerFileName } from "../../../lib/domain/asset-path.ts";
import { builtInProfile, profileNames } from "../../../lib/domain/imager-profile/built-in.ts";
import { completeProfile, inherit } from "../../../lib/domain/imager-profile/complete.ts";
import { decodeProfile } from "../../../lib/domain/imager-profile/decode.ts";
import { mergeProfile } from "../../../lib/domain/imager-profile/merge.ts";
import { assetProfileOf, profileRecipe } from "../../../lib/domain/imager-profile/recipe.ts";
import type { ImagerProfile } from "../../../lib/domain/imager-profile/types.ts";
import { planAsset } from "../../../lib/imager/plan.ts";

const named = (baseProfileName: string, version: string, more: ImagerProfile = {}): ImagerProfile =>
  inherit({ arch: "amd64", ...more, version, baseProfileName });

function failureOf(work: () => unknown): { message: string; exit: number } {
  try {
    work();
  } catch (error) {
    return { message: error instanceof Error ? error.message : "", exit: exitCodeOf(error) };
  }
  return { message: "", exit: 0 };
}

describe("built-in profiles", () => {
  it("are those of the public imager", () => {
    const platforms =
      "akamai alibabacloud aws azure cloudstack digital-ocean exoscale gcp hcloud metal nocloud opennebula openstack oracle scaleway upcloud vmware vultr";
    const secured = "azure cloudstack installer iso metal metal-uki nocloud opennebula openstack vmware";
    const others = ["iso", "installer", "metal-4k", "metal-uki"];
    const want = [
      ...platforms.split(" "),
      ...others,
      ...secured.split(" ").map((name) => `secureboot-${name}`),
    ];
    expect(profileNames()).toEqual(want.sort());
  });

  it("G67 have the known formats and sizes", () => {
    const options = (name: string) => builtInProfile(name).output;
    expect(options("aws")).toEqual({
      kind: "image",
      outFormat: ".zst",
      imageOptions: { diskSize: 8_589_934_592, diskFormat: "raw" },
    });
    expect(options("exoscale")?.imageOptions).toEqual({
      diskSize: 10_737_418_240,
      diskFormat: "qcow2",
      diskFormatOptions: "cluster_size=8k",
    });
    expect(options("vmware")).toMatchObject({ outFormat: "raw", imageOptions: { diskFormat: "ova" } });
    expect(options("metal-4k")?.imageOptions?.diskSectorSize).toBe(4096);
    expect(builtInProfile("secureboot-iso")).toMatchObject({ secureboot: true, output: { kind: "iso" } });
  });
});

describe("merging", () => {
  it("G68 keeps size and format of the base when only the enrollment is given", () => {
    const profile = named("secureboot-metal", "v1.13.0", {
      output: { imageOptions: { sdBootEnrollKeys: "force" } },
    });
    expect(profile.output?.imageOptions).toEqual({
      diskSize: 1_306_525_696,
      diskFormat: "raw",
      sdBootEnrollKeys: "force",
    });
    expect(completeProfile(profile)).toMatchObject({ enrollKeys: "force", bootloader: "sd-boot" });
  });

  it("joins lists, base first, and merges maps by key", () => {
    const base: ImagerProfile = {
      customization: { extraKernelArgs: ["a"] },
      overlay: { options: { one: 1, two: 2 } },
    };
    const request: ImagerProfile = {
      customization: { extraKernelArgs: ["b"] },
      overlay: { options: { two: 3 } },
    };
    expect(mergeProfile(base, request)).toEqual({
      customization: { extraKernelArgs: ["a", "b"] },
      overlay: { options: { one: 1, two: 3 } },
    });
    expect(base.customization?.extraKernelArgs).toEqual(["a"]);
  });

  it("lets a request win unless it says nothing", () => {
    const base: ImagerProfile = { platform: "metal", secureboot: true, output: { kind: "iso" } };
    expect(mergeProfile(base, { platform: "", output: { kind: "unknown" } })).toEqual(base);
    expect(mergeProfile(base, { platform: "aws", secureboot: false })).toMatchObject({
      platform: "aws",
      secureboot: false,
    });
  });

  it("takes a missing boolean of a given object as false, all but secureboot", () => {
    const base: ImagerProfile = { input: { secureboot: { includeWellKnownCerts: true } } };
    const request: ImagerProfile = { input: { secureboot: { platformKeyPath: "/pk" } } };
    expect(mergeProfile(base, request).input?.secureboot?.includeWellKnownCerts).toBe(false);
  });
});

describe("reading", () => {
  it("ignores unknown fields and null, and names the field that is wrong", () => {
    const profile = decodeProfile(
      "arch: amd64\nsecureboot: null\nnothing: [1]\noutput: {kind: iso, outFormat: raw}\n",
    );
    expect(profile).toEqual({ arch: "amd64", output: { kind: "iso", outFormat: "raw" } });
    expect(failureOf(() => decodeProfile("output: {imageOptions: {diskSize: big}}")).message).toContain(
      "output.imageOptions.diskSize",
    );
    expect(failureOf(() => decodeProfile("a: [")).exit).toBe(2);
  });
});

describe("completing", () => {
  it.each<[string, string, "amd64" | "arm64", number, string]>([
    ["metal", "v1.9.5", "amd64", 1_306_525_696, "grub"],
    ["metal", "v1.10.0", "amd64", 2_356_150_272, "dual-boot"],
    ["metal", "v1.11.0", "amd64", 4_453_302_272, "dual-boot"],
    ["metal", "v1.10.0", "arm64", 1_306_525_696, "sd-boot"],
    ["aws", "v1.14.0", "amd64", 11_736_711_168, "dual-boot"],
    ["aws", "v1.14.0", "arm64", 9_638_510_592, "sd-boot"],
    ["exoscale", "v1.11.0", "amd64", 13_884_194_816, "dual-boot"],
    ["secureboot-metal", "v1.14.0", "amd64", 2_355_101_696, "sd-boot"],
  ])("G62, G63, G64: %s %s %s is %d bytes with %s", (name, version, arch, wholeBytes, bootloader) => {
    const complete = completeProfile(named(name, version, { arch }));
    expect([complete.disk?.wholeBytes, complete.bootloader]).toEqual([wholeBytes, bootloader]);
  });

  it("G106 SecureBoot is silently systemd-boot, whatever was chosen", () => {
    const chosen = { output: { imageOptions: { bootloader: "grub" } } };
    expect(completeProfile(named("secureboot-metal", "v1.13.0", chosen)).bootloader).toBe("sd-boot");
  });

  it("reads words in any case, and an ISO before 1.12 without boot loader", () => {
    const output = { kind: "ISO", outFormat: "RAW", isoOptions: { bootloader: "grub" } };
    const request = { arch: "AMD64", platform: "metal", version: "v1.11.5", output };
    expect(completeProfile(request)).toMatchObject({ kind: "iso", arch: "amd64", bootloader: null });
  });

  it("G61 names files as the imager does", () => {
    const fileName = (profile: ImagerProfile) => imagerFileName(assetProfileOf(completeProfile(profile)));
    expect(fileName(named("azure", "v1.13.0"))).toBe("azure-amd64.vhd.zst");
    expect(fileName(named("vmware", "v1.13.0", { arch: "arm64" }))).toBe("vmware-arm64.ova");
    expect(fileName(named("installer", "v1.13.0", { arch: "arm64" }))).toBe("installer-arm64.tar");
    expect(fileName(named("secureboot-metal-uki", "v1.13.0"))).toBe("metal-amd64-secureboot-uki.efi");
  });
});

describe("refusing", () => {
  const kind = (word: string, more: ImagerProfile = {}): ImagerProfile => ({
    ...{ arch: "amd64", platform: "metal", version: "v1.13.0" },
    ...more,
    output: { kind: word, outFormat: "raw", ...more.output },
  });

  it.each<[string, ImagerProfile, number]>([
    ["SecureBoot with 1.4.8", kind("iso", { secureboot: true, version: "1.4.8" }), 2],
    [
      "an installer with META",
      kind("installer", { customization: { metaContents: [{ key: 10, value: "a" }] } }),
      2,
    ],
    ["a kernel with arguments", kind("kernel", { customization: { extraKernelArgs: ["a=b"] } }), 2],
    ["an initramfs with SecureBoot", kind("initramfs", { secureboot: true }), 2],
    ["a disk image without size", kind("image", { output: { imageOptions: { diskFormat: "raw" } } }), 2],
    ["a unified kernel image with 1.4.8", kind("uki", { version: "1.4.8" }), 3],
    ["a disk image without format", kind("image", { output: { imageOptions: { diskSize: 1 } } }), 3],
    ["an image cache", kind("iso", { input: { imageCache: { imageRef: "a/b" } } }), 3],
    ["no architecture", kind("iso", { arch: "" }), 2],
    ["no platform", kind("iso", { platform: "" }), 2],
    ["an unknown platform", kind("iso", { platform: "nosuch" }), 2],
    ["no kind", kind("unknown"), 2],
    ["a name that breaks out of its quotes", kind("iso", { name: 'A"\nB=1' }), 2],
    [
      "dual-boot on arm64, which has no BIOS",
      kind("image", {
        arch: "arm64",
        output: { imageOptions: { diskSize: 1, diskFormat: "raw", bootloader: "dual-boot" } },
      }),
      2,
    ],
    [
      "sectors of 777 bytes",
      kind("image", { output: { imageOptions: { diskSize: 1, diskFormat: "raw", diskSectorSize: 777 } } }),
      2,
    ],
  ])("G69 %s", (_name, profile, exit) => {
    expect(failureOf(() => completeProfile(profile)).exit).toBe(exit);
  });

  it("G105 an image cache, which no disk has room for here", () => {
    const output = { imageOptions: { diskSize: 1, diskFormat: "raw" } };
    const profile = kind("image", { output, input: { imageCache: { ociPath: "/cache" } } });
    expect(failureOf(() => completeProfile(profile))).toEqual({
      message: "image caches are not supported",
      exit: 3,
    });
  });

  it("a profile nobody knows, with the list of names", () => {
    expect(failureOf(() => named("nosuch", "v1.13.0"))).toEqual({
      message: 'no profile is called "nosuch"',
      exit: 2,
    });
  });
});

describe("what a profile gives to plans", () => {
  const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
  const image = (name: string, letter: string) => ({ repository: name, digest: digest(letter) });
  const board = { name: "rpi_generic", image: "board", ref: "board", digest: digest("b") };
  const stepsOf = (profile: ImagerProfile, inputs: Partial<Parameters<typeof profileRecipe>[1]> = {}) => {
    const complete = completeProfile({ arch: "arm64", platform: "metal", version: "v1.13.0", ...profile });
    const recipe = profileRecipe(complete, {
      imager: image("siderolabs/imager", "a"),
      baseInstaller: image("siderolabs/installer-base", "c"),
      extensions: [],
      overlay: null,
      overlayInstaller: null,
      signing: null,
      installedGrub: {},
      ...inputs,
    });
    return planAsset(recipe);
  };
  const installer = { output: { kind: "installer", outFormat: "raw" } };
  const imageOf = (plan: ReturnType<typeof stepsOf>, id: string) =>
    plan.inputs.find((input) => input.id === id)?.digest;

  it("an installer carries the files of overlayInstaller, the program asked is that of the overlay", () => {
    const plain = stepsOf(installer, { overlay: board });
    expect(imageOf(plain, "overlay-image")).toBe(board.digest);
    const other = stepsOf(installer, { overlay: board, overlayInstaller: image("other", "d") });
    expect([imageOf(other, "overlay-image"), imageOf(other, "board-image")]).toEqual([
      digest("d"),
      board.digest,
    ]);
    expect(other.steps.at(-1)?.params.labels).toMatchObject({
      "io.casthouse.source.overlay": `other@${digest("d")}`,
    });
    const same = stepsOf(installer, {
      overlay: board,
      overlayInstaller: { repository: board.image, digest: board.digest },
    });
    expect(same.key).toBe(plain.key);
  });

  it("an archive of an installer is named by the reference as written", () => {
    const reference = "example.org/base:mine";
    const named = stepsOf(installer, { baseInstaller: { ...image("oci/base", "c"), reference } });
    expect(named.steps.at(-1)?.params.reference).toBe(reference);
    expect(stepsOf(installer).steps.at(-1)?.params.reference).toBe("siderolabs/installer-base:v1.13.0");
  });

  it("a name of its own reaches the unified kernel image, Talos changes nothing", () => {
    const uki = { output: { kind: "uki", outFormat: "raw" } };
    const params = (name?: string) =>
      stepsOf(name === undefined ? uki : { ...uki, name }).steps.find(({ op }) => op === "uki")?.params;
    expect(params("Talos New")).toEqual({ ...params(), distribution: "Talos New" });
    expect(params("Talos")).toEqual(params());
  });
});
