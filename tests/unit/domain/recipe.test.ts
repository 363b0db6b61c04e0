/** Recipes: what applies to which kind of file, what is looked up, and what is refused. */
import { describe, expect, it } from "vitest";
import { resolveRecipe } from "../../../lib/domain/recipe.ts";
import { recipeFor, recipeRequest } from "../../fixtures/recipes.ts";
import { refusal } from "../../fixtures/refusal.ts";
import { catalogExtension, fakeRelease } from "../../fixtures/releases.ts";

const PREFIX = "error enhancing profile from schematic: ";

const FULL = `overlay:
    image: siderolabs/anything
    name: rpi_generic
    options:
        configTxtAppend: a=1
customization:
    embeddedMachineConfiguration: "kind: HostnameConfig"
    extraKernelArgs: [a=1, b]
    meta: [{key: 12, value: x}, {key: 10, value: y}]
    systemExtensions:
        officialExtensions: [siderolabs/qemu-guest-agent, siderolabs/drbd]
    secureboot: {enrollKeys: force, includeWellKnownCertificates: true}
    diskImage: {sectorSize: 4096}
`;

/** Kind, path, then what applies: arguments, META, contents, sector size, enroll mode, well-known certificates. */
const MATRIX = [
  ["kernel-arm64", false, false, false, 512, "off", false],
  ["cmdline-metal-arm64", true, true, false, 512, "off", false],
  ["cmdline-metal-arm64-secureboot", true, true, false, 512, "off", false],
  ["initramfs-arm64.xz", false, false, true, 512, "off", false],
  ["metal-arm64.iso", true, true, true, 512, "off", false],
  ["metal-arm64-secureboot.iso", true, true, true, 512, "force", true],
  ["metal-arm64-uki.efi", true, false, true, 512, "off", false],
  ["metal-arm64.raw.xz", true, true, true, 4096, "off", false],
  ["metal-arm64-secureboot.raw.xz", true, true, true, 4096, "force", true],
  ["installer-arm64.tar", true, false, true, 512, "off", false],
  ["installer-arm64-secureboot.tar", true, false, true, 512, "off", true],
] as const;

describe("what applies to which kind", () => {
  it.each(MATRIX)("%s", (path, args, meta, contents, sector, enroll, wellKnown) => {
    const recipe = recipeFor(path, "v1.13.0", FULL);
    expect(recipe.extraKernelArgs).toEqual(args ? ["a=1", "b"] : []);
    expect(recipe.meta).toEqual(
      meta
        ? [
            { key: 12, value: "x" },
            { key: 10, value: "y" },
          ]
        : [],
    );
    expect(recipe.extensions.map(({ name }) => name)).toEqual(
      contents ? ["siderolabs/qemu-guest-agent", "siderolabs/drbd"] : [],
    );
    expect(recipe.embeddedConfig).toBe(contents ? "kind: HostnameConfig" : null);
    expect(recipe.overlay?.entry.image ?? null).toBe(contents ? "siderolabs/sbc-raspberrypi" : null);
    expect(recipe.overlay?.options ?? {}).toEqual(contents ? { configTxtAppend: "a=1" } : {});
    expect(recipe.sectorSize).toBe(sector);
    expect(recipe.enrollKeys).toBe(enroll);
    expect(recipe.includeWellKnownCertificates).toBe(wellKnown);
    expect(recipe.baseInstaller === null).toBe(!path.startsWith("installer"));
  });

  it("gives arguments to UKI and installer only from 1.10 or with SecureBoot", () => {
    const text = "customization:\n    extraKernelArgs: [a=1]\n";
    const args = (path: string, version: string) => recipeFor(path, version, text).extraKernelArgs;
    for (const path of ["metal-amd64-uki.efi", "installer-amd64.tar", "aws-installer-amd64.tar"]) {
      expect(args(path, "v1.9.5"), path).toEqual([]);
      expect(args(path, "v1.10.0-alpha.0"), path).toEqual(["a=1"]);
    }
    expect(args("metal-amd64-secureboot-uki.efi", "v1.9.5")).toEqual(["a=1"]);
    expect(args("installer-amd64-secureboot.tar", "v1.9.5")).toEqual(["a=1"]);
    expect(args("metal-amd64.iso", "v1.9.5")).toEqual(["a=1"]);
  });

  it("carries the texts and pins of request and release", () => {
    const request = recipeRequest("installer-amd64.tar", "v1.13.0");
    const recipe = resolveRecipe(request);
    expect(recipe).toMatchObject({
      version: "v1.13.0",
      profile: request.profile,
      schematicId: request.schematicId,
      schematicText: "customization: {}\n",
      externalUrl: "http://factory.test",
      imager: request.release.imager,
      baseInstaller: { repository: "siderolabs/installer-base" },
      sample: false,
    });
    expect(recipeFor("installer-amd64.tar", "v1.9.5").baseInstaller?.repository).toBe("siderolabs/installer");
  });
});

describe("extensions and overlays", () => {
  const wants = (name: string) =>
    `customization:\n    systemExtensions:\n        officialExtensions: [${name}]\n`;
  const found = (name: string, ...catalog: string[]) => {
    const release = fakeRelease("v1.13.0", { extensions: catalog.map(catalogExtension) });
    return recipeFor("metal-amd64.iso", "v1.13.0", wants(name), { release }).extensions.map(
      (entry) => entry.name,
    );
  };

  it.each([
    ["v4l-uvc", "v4l-uvc-drivers"],
    ["usb-modem", "usb-modem-drivers"],
    ["gasket", "gasket-driver"],
    ["talos-vmtoolsd", "vmtoolsd-guest-agent"],
    ["xe-guest-utilities", "xen-guest-agent"],
    ["nvidia-container-toolkit", "nvidia-container-toolkit-lts"],
    ["nvidia-open-gpu-kernel-modules", "nvidia-open-gpu-kernel-modules-lts"],
    ["nonfree-kmod-nvidia", "nonfree-kmod-nvidia-lts"],
    ["nvidia-fabricmanager", "nvidia-fabric-manager-lts"],
    ["nvidia-fabricmanager", "nvidia-fabricmanager-lts"],
    ["i915-ucode", "i915"],
    ["amdgpu-firmware", "amdgpu"],
  ])("finds %s under its newer name %s", (written, published) => {
    expect(found(`siderolabs/${written}`, `siderolabs/${published}`)).toEqual([`siderolabs/${published}`]);
    expect(found(`siderolabs/${written}`, `siderolabs/${published}`, `siderolabs/${written}`)).toEqual([
      `siderolabs/${written}`,
    ]);
  });

  it("does not guess namespaces, and hints at the full name", () => {
    const thrown = refusal(() => recipeFor("metal-amd64.iso", "v1.13.0", wants("qemu-guest-agent")));
    expect(thrown.status).toBe(400);
    expect(thrown.message).toBe(
      `${PREFIX}official extension "qemu-guest-agent" is not available for Talos version v1.13.0`,
    );
    expect(thrown.extra.hint).toContain('Did you mean "siderolabs/qemu-guest-agent"?');
    expect(refusal(() => found("other/gasket", "other/gasket-driver")).message).toContain('"other/gasket"');
  });

  it("refuses more than a catalog can have, before anything is planned", () => {
    const names = Array.from({ length: 201 }, () => "siderolabs/a").join(", ");
    expect(refusal(() => found(names, "siderolabs/a")).message).toBe(
      `${PREFIX}the schematic lists 201 system extensions, files are made with at most 200`,
    );
  });

  it("shows of a name longer than any only the beginning", () => {
    const thrown = refusal(() => found(`siderolabs/${"x".repeat(100_000)}`, "siderolabs/a"));
    expect(thrown.message.length + JSON.stringify(thrown.extra).length).toBeLessThan(1_000);
  });

  it("keeps order and repeats", () => {
    expect(found("siderolabs/b, siderolabs/a, siderolabs/b", "siderolabs/a", "siderolabs/b")).toEqual([
      "siderolabs/b",
      "siderolabs/a",
      "siderolabs/b",
    ]);
  });

  it("quotes the overlay that is missing and lists what there is", () => {
    const text = 'overlay:\n    image: x/y\n    name: "no\\"board"\ncustomization: {}\n';
    const thrown = refusal(() => recipeFor("metal-arm64.raw.xz", "v1.13.0", text));
    expect(thrown.message).toBe(
      `${PREFIX}official overlay "no\\"board" is not available for Talos version v1.13.0`,
    );
    expect(thrown.extra.hint).toBe("Overlays of this release: rpi_generic, rock4cplus.");
    expect(recipeFor("kernel-arm64", "v1.13.0", text).overlay).toBeNull();
  });

  it("refuses any kind with an overlay below 1.7, kernels too", () => {
    const text = "overlay:\n    image: x/y\n    name: rpi_generic\ncustomization: {}\n";
    for (const path of ["kernel-arm64", "cmdline-metal-arm64", "metal-arm64.raw.xz"]) {
      expect(refusal(() => recipeFor(path, "v1.6.8", text)).message).toBe(
        `${PREFIX}overlay is not supported for Talos version v1.6.8`,
      );
    }
    expect(recipeFor("metal-arm64.raw.xz", "v1.7.0-alpha.0", text).overlay).not.toBeNull();
  });

  it("makes plain data of overlay options", () => {
    const request = recipeRequest("metal-arm64.raw.xz", "v1.13.0", FULL);
    const options = new Map<string, never>(
      Object.entries({
        small: 5n,
        huge: 18446744073709551615n,
        half: 0.5,
        none: null,
        infinite: Number.POSITIVE_INFINITY,
        when: { timestamp: "2001-01-01" },
        nested: new Map<unknown, unknown>([
          [1n, [true, new Map()]],
          ["__proto__", "x"],
        ]),
      }) as [string, never][],
    );
    const overlay = { image: "x/y", name: "rpi_generic", options };
    const recipe = resolveRecipe({ ...request, schematic: { ...request.schematic, overlay } });
    expect(JSON.stringify(recipe.overlay?.options)).toBe(
      '{"small":5,"huge":"18446744073709551615","half":0.5,"none":null,"infinite":"Infinity","when":"2001-01-01","nested":{"1":[true,{}],"__proto__":"x"}}',
    );
  });

  it("lets the overlay's own profile choose what the schematic leaves open", () => {
    const overlayProfile = { bootloader: "grub", sectorSize: 4096 } as const;
    const recipe = recipeFor("metal-arm64.raw.xz", "v1.13.0", undefined, { overlayProfile });
    expect([recipe.bootloader, recipe.sectorSize]).toEqual(["grub", 4096]);
    const text = "customization:\n    bootloader: sd-boot\n    diskImage: {sectorSize: 512}\n";
    const chosen = recipeFor("metal-arm64.raw.xz", "v1.13.0", text, { overlayProfile });
    expect([chosen.bootloader, chosen.sectorSize]).toEqual(["sd-boot", 512]);
  });
});

describe("refusals", () => {
  const message = (...request: Parameters<typeof recipeFor>) => refusal(() => recipeFor(...request)).message;

  it("names an unknown platform and lists the known ones", () => {
    for (const path of [
      "cmdline-nosuch-amd64",
      "nosuch-amd64.iso",
      "initramfs-amd64.raw.zst",
      "constructor-amd64.iso",
    ]) {
      const thrown = refusal(() => recipeFor(path, "v1.13.0"));
      expect(thrown.status).toBe(400);
      expect(thrown.message).toMatch(/^platform "(nosuch|initramfs|constructor)" is not known$/);
      expect(thrown.extra.hint).toContain("metal, nocloud");
    }
  });

  it("embedded configuration below 1.12, but not for kernel and command line", () => {
    const text = "customization:\n    embeddedMachineConfiguration: x\n";
    expect(message("initramfs-amd64.xz", "v1.11.5", text)).toBe(
      `${PREFIX}embedding configuration is not supported for Talos version v1.11.5`,
    );
    expect(recipeFor("cmdline-metal-amd64", "v1.11.5", text).embeddedConfig).toBeNull();
    expect(recipeFor("initramfs-amd64.xz", "v1.12.0-alpha.0", text).embeddedConfig).toBe("x");
  });

  it("a wrong enroll mode, on SecureBoot assets only; any case of a right one passes", () => {
    const text = (mode: string) => `customization:\n    secureboot: {enrollKeys: ${mode}}\n`;
    expect(message("metal-amd64-secureboot.iso", "v1.13.0", text("sometimes"))).toBe(
      `${PREFIX}invalid secureboot enrollKeys value "sometimes": sometimes does not belong to SDBootEnrollKeys values`,
    );
    expect(recipeFor("metal-amd64.iso", "v1.13.0", text("sometimes")).enrollKeys).toBe("off");
    expect(recipeFor("metal-amd64-secureboot.iso", "v1.13.0", text("FORCE")).enrollKeys).toBe("force");
    expect(recipeFor("metal-amd64-secureboot.iso", "v1.13.0").enrollKeys).toBe("if-safe");
  });

  it("SecureBoot without keys", () => {
    const request = recipeRequest("cmdline-metal-amd64-secureboot", "v1.13.0", undefined, {
      secureBootEnabled: false,
    });
    expect(refusal(() => resolveRecipe(request)).message).toBe(`${PREFIX}secure boot is disabled`);
  });

  it("G69 SecureBoot and UKI before 1.5, and an image without a size", () => {
    expect(message("metal-amd64-secureboot.iso", "v1.4.8")).toBe(
      "SecureBoot is not supported for Talos version v1.4.8",
    );
    expect(message("metal-amd64-uki.efi", "v1.4.8")).toBe(
      "unified kernel images are not supported for Talos version v1.4.8",
    );
    const request = recipeRequest("metal-amd64.raw", "v1.13.0");
    const { disk: _, ...profile } = request.profile;
    expect(refusal(() => resolveRecipe({ ...request, profile })).message).toContain(
      "a disk image needs a disk size",
    );
  });

  it("sector sizes other than 512 and 4096, for disk images only", () => {
    const text = (size: string) => `customization:\n    diskImage: {sectorSize: ${size}}\n`;
    expect(message("metal-amd64.raw", "v1.13.0", text("777"))).toBe(
      `${PREFIX}diskImage.sectorSize 777 is not supported`,
    );
    expect(recipeFor("metal-amd64.iso", "v1.13.0", text("777")).sectorSize).toBe(512);
    expect(recipeFor("metal-amd64.raw", "v1.13.0", text("0")).sectorSize).toBe(512);
    expect(recipeFor("metal-amd64.raw", "v1.13.0", text("4096")).sectorSize).toBe(4096);
  });

  it("META values with a semicolon, unless a disk image stores them", () => {
    const text = 'customization:\n    meta: [{key: 10, value: "a;b"}]\n';
    expect(message("metal-amd64.iso", "v1.13.0", text)).toBe(
      `${PREFIX}META value of key 0xa contains ";", which cannot be passed on the kernel command line`,
    );
    expect(recipeFor("metal-amd64.raw", "v1.13.0", text).meta).toEqual([{ key: 10, value: "a;b" }]);
    expect(recipeFor("installer-amd64.tar", "v1.13.0", text).meta).toEqual([]);
  });

  it("META values that a disk image cannot hold", () => {
    const text = `customization:\n    meta: [{key: 10, value: "${"x".repeat(262100)}"}]\n`;
    expect(message("metal-amd64.raw", "v1.13.0", text)).toContain("META values take");
  });

  it("an installer whose base image is missing: 404", () => {
    const release = fakeRelease("v1.13.0", { baseInstaller: null });
    const thrown = refusal(() => recipeFor("installer-amd64.tar", "v1.13.0", undefined, { release }));
    expect([thrown.status, thrown.message]).toEqual([
      404,
      `${PREFIX}failed to get base installer: version 1.13.0 is not available`,
    ]);
  });

  it("checks configuration, SecureBoot, overlay and extensions in this order", () => {
    const text = (version: string) => message("metal-arm64-secureboot.iso", version, ALL_WRONG);
    const ALL_WRONG = FULL.replace("force", "never").replace("drbd", "nope").replace("rpi_generic", "nope");
    expect(text("v1.11.0")).toContain("embedding configuration");
    expect(text("v1.13.0")).toContain("enrollKeys");
    expect(message("metal-arm64.iso", "v1.13.0", ALL_WRONG)).toContain("official extension");
    const overlayOnly = ALL_WRONG.replace("siderolabs/nope", "siderolabs/i915");
    expect(message("metal-arm64.iso", "v1.13.0", overlayOnly)).toContain("official overlay");
  });
});
