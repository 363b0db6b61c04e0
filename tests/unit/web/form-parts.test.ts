/** The parts of the form: arguments, addresses, META, configurations, extensions, board options. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentEffects } from "../../../lib/domain/form/argument-effects.ts";
import { joinArguments, splitArguments } from "../../../lib/domain/form/argument-text.ts";
import { knownOptions, readOption, writeOption } from "../../../lib/domain/form/board-options.ts";
import { documentFault, readDocuments, secretPaths } from "../../../lib/domain/form/embedded-config.ts";
import { extensionConflicts } from "../../../lib/domain/form/extension-conflicts.ts";
import {
  isDefaultOrder,
  moveExtension,
  orderExtensions,
  toggleExtension,
} from "../../../lib/domain/form/extension-order.ts";
import { purposeOf, searchWords } from "../../../lib/domain/form/extension-purpose.ts";
import { initialForm } from "../../../lib/domain/form/form-state.ts";
import { formWarnings } from "../../../lib/domain/form/form-warnings.ts";
import {
  mayBeSecret,
  metaBytes,
  metaFault,
  metaKey,
  metaName,
} from "../../../lib/domain/form/meta-fields.ts";
import { previewForm } from "../../../lib/domain/form/preview.ts";
import { schematicChanges } from "../../../lib/domain/form/schematic-changes.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import { catalogExtension } from "../../fixtures/releases.ts";

describe("kernel arguments as text", () => {
  it("come back from the text as they went in", () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom(..."ab' \t\n=\u00a0-") }));
    fc.assert(
      fc.property(words, (list) => {
        expect(splitArguments(joinArguments(list))).toEqual(list);
      }),
    );
  });

  it("are split at any white space, and quotes inside a word mean nothing", () => {
    expect(splitArguments("  -console   console=ttyS0\u00a0it's ")).toEqual([
      "-console",
      "console=ttyS0",
      "it's",
    ]);
    expect(splitArguments("'never closed")).toEqual(["'never", "closed"]);
  });
});

describe("the effect of an argument", () => {
  const line = "talos.platform=metal console=ttyAMA0 console=tty0 pti=on slab_nomerge";
  it.each([
    ["quiet", "adds", []],
    ["pti=off", "adds", []],
    ["pti=on", "already-there", []],
    ["slab_nomerge", "already-there", []],
    ["console=ttyS0", "replaces", ["console=ttyAMA0", "console=tty0"]],
    ["-console", "removes", ["console=ttyAMA0", "console=tty0"]],
    ["-console=tty0", "removes", ["console=tty0"]],
    ["-console=ttyS9", "removes-nothing", []],
    ["-quiet", "removes-nothing", []],
    ["-", "adds", []],
  ])("%s is: %s %j", (argument, effect, defaults) => {
    expect(argumentEffects(line, [argument])).toEqual([{ argument, effect, defaults }]);
  });

  it("of a second mention is told as a repeat", () => {
    expect(argumentEffects(line, ["a", "b", "a"]).map(({ effect }) => effect)).toEqual([
      "adds",
      "adds",
      "repeated",
    ]);
  });

  it("agrees with the command line that comes of it", () => {
    const form = { ...initialForm("1.13.2"), cmdline: "-console pti=on a=1" };
    const { cmdline, plainCmdline } = previewForm(form);
    const notes = argumentEffects(plainCmdline ?? "", splitArguments(form.cmdline));
    for (const removed of notes.flatMap(({ defaults }) => defaults)) expect(cmdline).not.toContain(removed);
    expect(cmdline).toContain("a=1");
  });
});

describe("META", () => {
  it.each([
    ["10", 10],
    ["0xA", 10],
    ["0xff", 255],
    ["0", 0],
    ["256", null],
    ["0x100", null],
    ["-1", null],
    ["", null],
  ])("key %j is %j", (text, key) => {
    expect(metaKey(text)).toBe(key);
  });

  it.each([
    ["0xa", "addresses: []", null],
    ["0xa", '{"addresses": []}', null],
    ["10", "- a", "yaml"],
    ["10", "a: [", "yaml"],
    ["9", "{}", null],
    ["9", "provider: luks2", "json"],
    ["0xf", "00112233-4455-6677-8899-AABBCCDDEEFF", null],
    ["0xf", "me", "uuid"],
    ["0xc", "whatever;", null],
    ["x", "", "key"],
  ])("%s with %j has the fault %j", (key, value, fault) => {
    expect(metaFault({ key, value })).toBe(fault);
  });

  it("knows names, sizes and what may be secret", () => {
    expect([metaName("12"), metaName("0x20")]).toEqual(["own1", null]);
    expect(
      metaBytes([
        { key: "12", value: "é" },
        { key: "0xc", value: "abc" },
      ]),
    ).toBe(3 + 8);
    expect(mayBeSecret({ key: "0xa", value: "wireguard: {privateKey: x}" })).toBe(true);
    expect(mayBeSecret({ key: "0xa", value: "addresses: []" })).toBe(false);
    expect(mayBeSecret({ key: "16", value: "x" })).toBe(true);
  });
});

describe("a machine configuration", () => {
  const faultOf = (text: string) => documentFault(readDocuments(text));

  it("is taken whole, as documents with a kind, or as both", () => {
    expect(faultOf("machine: {}\ncluster: {}")).toBeNull();
    expect(
      faultOf("---\nmachine: {}\r\n---\r\napiVersion: v1alpha1\nkind: LinkConfig\n---\n# nothing\n"),
    ).toBeNull();
  });

  it("is refused where a document is no map, or of no kind", () => {
    expect(faultOf("machine: {}\n---\n- a")).toEqual({ document: 2, fault: "list" });
    expect(faultOf("hostname: x")).toEqual({ document: 1, fault: "kind" });
    expect(() => readDocuments("a: [")).toThrow();
  });

  it("tells where secrets seem to be, and a few only", () => {
    const text =
      "machine:\n  token: x\n  ca: {crt: a, key: b}\ncluster:\n  secret: s\n  name: n\n  token: ''";
    expect(secretPaths(readDocuments(text))).toEqual(["machine.token", "machine.ca.key", "cluster.secret"]);
    const many = `a: [${"{password: x},".repeat(40)}]`;
    expect(secretPaths(readDocuments(many)).length).toBe(5);
  });
});

describe("the order of extensions", () => {
  const names = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 6 });

  it("is that of bytes until somebody moves one, and stays then", () => {
    expect(toggleExtension(["a", "c"], "b", true)).toEqual(["a", "b", "c"]);
    expect(toggleExtension(["c", "a"], "b", true)).toEqual(["c", "a", "b"]);
    expect(toggleExtension(["c", "a", "c"], "c", false)).toEqual(["a"]);
    expect(orderExtensions(["b", "a"], [])).toEqual(["a", "b"]);
    expect(moveExtension(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moveExtension(["a"], 0, 1)).toEqual(["a"]);
  });

  it("holds exactly what is chosen", () => {
    fc.assert(
      fc.property(names, names, (chosen, order) => {
        expect(new Set(orderExtensions(chosen, order))).toEqual(new Set(chosen));
        if (isDefaultOrder(order)) expect(isDefaultOrder(orderExtensions(chosen, order))).toBe(true);
      }),
    );
  });
});

describe("extensions that do not go together", () => {
  const s = (name: string) => `siderolabs/${name}`;
  it.each<[string[], string[]]>([
    [["nonfree-kmod-nvidia-lts", "nvidia-open-gpu-kernel-modules-lts"], ["driver"]],
    [["nonfree-kmod-nvidia-lts", "nvidia-container-toolkit-production"], ["branch"]],
    [["nonfree-kmod-nvidia-lts", "nvidia-container-toolkit-lts", "nvidia-fabricmanager-lts"], []],
    [["gvisor", "gvisor"], ["same"]],
    [["i915", "i915-ucode"], ["same"]],
    [["gvisor", "iscsi-tools"], []],
  ])("%j: %j", (names, reasons) => {
    const catalog = [catalogExtension(s("i915"))];
    expect(extensionConflicts(names.map(s), catalog).map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe("the purpose of an extension", () => {
  it.each([
    ["qemu-guest-agent", "", "guest"],
    ["nvidia-container-toolkit-lts", "nvidia runtime", "graphics"],
    ["zfs", "ZFS kernel module", "storage"],
    ["tailscale", "", "network"],
    ["gvisor", "using containerd's runtime handler", "runtime"],
    ["intel-ucode", "microcode binaries", "firmware"],
    ["usb-audio-drivers", "ALSA USB Audio", "device"],
  ])("%s is for %s%s", (name, description, purpose) => {
    expect(purposeOf(`siderolabs/${name}`, description)).toBe(purpose);
  });

  it("adds words that people search for", () => {
    expect(searchWords("siderolabs/tailscale")).toContain("vpn");
    expect(searchWords("siderolabs/gvisor")).toBe("");
  });
});

describe("board options", () => {
  it("are known by the overlay's image", () => {
    expect(knownOptions("siderolabs/sbc-raspberrypi")).toContain("configTxtAppend");
    expect(knownOptions("constructor")).toEqual([]);
  });

  it("change one text and keep the rest", () => {
    const yaml = writeOption("other: {a: 1}\n", "configTxtAppend", "a=1\nb=2");
    expect(readOption(yaml, "configTxtAppend")).toBe("a=1\nb=2");
    expect(yaml).toContain("other:");
    expect(writeOption(writeOption("", "configTxt", "x"), "configTxt", "")).toBe("");
  });
});

describe("warnings", () => {
  const kinds = (change: object) =>
    formWarnings({ ...initialForm("1.13.2"), ...change }, null).map(({ kind }) => kind);

  it("are none for the untouched form", () => {
    expect(kinds({})).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ["enrolment without SecureBoot", { enrollKeys: "off" }, ["secureboot-unused"]],
    ["arguments that old installers ignore", { version: "1.9.5", cmdline: "a" }, ["arguments-installer"]],
    ["keys that a node writes", { meta: [{ key: "6", value: "B" }] }, ["meta-managed"]],
    ["key 0", { meta: [{ key: "0", value: "" }] }, ["meta-disk"]],
    ["a semicolon", { meta: [{ key: "12", value: "a;b" }] }, ["meta-separator"]],
    [
      "a repeated key",
      {
        meta: [
          { key: "12", value: "" },
          { key: "0xc", value: "" },
        ],
      },
      ["meta-repeated"],
    ],
    ["secrets", { embeddedConfig: "machine: {token: x}" }, ["secrets"]],
    ["two of a kind", { extensions: ["a/a", "a/a"] }, ["conflict"]],
  ])("tell of %s", (_what, change, expected) => {
    expect(kinds(change)).toEqual(expected);
  });
});

describe("changes", () => {
  it("are told by item, moved ones as moved", () => {
    const before = parseSchematic(
      "customization: {extraKernelArgs: [a, b], systemExtensions: {officialExtensions: [x, y, z]}}",
    );
    const after = parseSchematic(
      "customization: {extraKernelArgs: [a, c], bootloader: grub, systemExtensions: {officialExtensions: [y, x, w]}}",
    );
    const { extensions, arguments: words, fields } = schematicChanges(before, after);
    expect(extensions.map(({ value, change }) => `${change} ${value}`).sort()).toEqual([
      ...["added w", expect.stringMatching(/^moved [xy]$/), "removed z"],
    ]);
    expect(words).toEqual([
      { value: "b", change: "removed" },
      { value: "c", change: "added" },
    ]);
    expect(fields).toMatchObject([{ path: "bootloader", change: "added", after: "grub" }]);
    expect(schematicChanges(after, after)).toEqual({ extensions: [], arguments: [], fields: [] });
  });
});
