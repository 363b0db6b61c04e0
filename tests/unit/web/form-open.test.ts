/** A schematic that is opened in the form and not changed keeps its ID; one that is changed loses nothing else. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepForm } from "../../../app/create/keep-form.ts";
import { readPostedForm } from "../../../app/create/posted-form.ts";
import { type Opened, readForm, writeForm } from "../../../lib/domain/form/form-address.ts";
import { formOfSchematic, openPath } from "../../../lib/domain/form/form-of-schematic.ts";
import { formSchematic } from "../../../lib/domain/form/form-schematic.ts";
import { type FormState, settleForm } from "../../../lib/domain/form/form-state.ts";
import { PLATFORMS } from "../../../lib/domain/platforms.ts";
import { schematicId } from "../../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import type { Services } from "../../../lib/services/contracts.ts";
import { randomSchematics } from "../../fixtures/random-schematics.ts";

const RUNS = 200;
const targets = fc.record({
  version: fc.constantFrom("1.13.2", "1.9.5", "2.0.0"),
  platform: fc.constantFrom(...PLATFORMS.map(({ name }) => name)),
  arch: fc.constantFrom("amd64" as const, "arm64" as const),
  secureboot: fc.boolean(),
});

/** What a browser sends for a form: line ends as CRLF, NUL as U+FFFD, boxes and lists as the page holds them. */
function posted(form: FormState): URLSearchParams {
  const sent = (text: string) => text.replace(/\r\n?|\n/g, "\r\n").replaceAll("\0", "\ufffd");
  const fields = new URLSearchParams({ target: form.target, version: form.version, arch: form.arch });
  if (form.target === "cloud") fields.set("platform", form.platform);
  if (form.target === "sbc") fields.set("board", form.board);
  if (form.target === "sbc") fields.set("overlay-options", sent(form.overlayOptions));
  if (form.board === "other") {
    // A field of one line drops line ends.
    fields.set("overlay-name", sent(form.overlayName));
    fields.set("overlay-image", sent(form.overlayImage));
  }
  if (form.secureboot) fields.set("secureboot", "true");
  fields.set("enroll-keys", sent(form.enrollKeys));
  fields.append("well-known", "false");
  if (form.wellKnownCertificates) fields.append("well-known", "true");
  fields.append("extensions", "-");
  for (const name of form.extensions) fields.append("order", sent(name));
  for (const name of new Set(form.extensions)) fields.append("extensions", sent(name));
  fields.set("cmdline", sent(form.cmdline));
  fields.set("bootloader", form.bootloader);
  fields.set("sector-size", form.sectorSize);
  for (const { key, value } of [{ key: "", value: "" }, ...form.meta]) {
    fields.append("meta-key", key);
    fields.append("meta-value", sent(value));
  }
  fields.set("embedded-config", sent(form.embeddedConfig));
  return fields;
}

const openedOf = (schematic: Parameters<typeof schematicId>[0]): Opened => ({
  id: schematicId(schematic),
  schematic,
});

describe("an opened schematic", () => {
  it("has the same ID after the way through the form", () => {
    fc.assert(
      fc.property(randomSchematics, targets, (schematic, target) => {
        const opened = openedOf(schematic);
        const form = formOfSchematic(schematic, target);
        expect(schematicId(formSchematic(form, schematic))).toBe(opened.id);
      }),
      { numRuns: RUNS },
    );
  });

  it("has the same ID after the way through an address and a posted form", () => {
    fc.assert(
      fc.property(randomSchematics, targets, (schematic, target) => {
        const opened = openedOf(schematic);
        const query = new URLSearchParams(openPath(opened, target).slice("/?".length));
        expect(query.get("from")).toBe(opened.id);
        const form = settleForm(readForm(query, "1.0.0", opened));
        const back = readPostedForm(posted(form), opened);
        expect(schematicId(formSchematic(back, schematic))).toBe(opened.id);
      }),
      { numRuns: RUNS },
    );
  });

  it("keeps everything else when one thing is changed", () => {
    fc.assert(
      fc.property(randomSchematics, targets, (schematic, target) => {
        const opened = openedOf(schematic);
        const form = { ...formOfSchematic(schematic, target), cmdline: "quiet" };
        const query = new URLSearchParams(writeForm(form, opened).toString());
        const changed = formSchematic(settleForm(readForm(query, "1.0.0", opened)), schematic);
        const { customization } = schematic;
        expect(changed).toEqual({
          ...schematic,
          customization: { ...customization, extraKernelArgs: ["quiet"] },
        });
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["extensions", { extensions: [] }],
    ["kernel arguments", { cmdline: "" }],
    ["META values", { meta: [] }],
    ["boot loader", { bootloader: "auto" }],
    ["enrolment", { enrollKeys: "", wellKnownCertificates: false }],
    ["sector size", { sectorSize: "" }],
    ["board options", { overlayOptions: "" }],
    ["board", { target: "metal" }],
  ] as [string, Partial<FormState>][])("can have its %s taken out in an address", (_what, change) => {
    const opened = openedOf(
      parseSchematic(`
overlay: {name: rpi_generic, image: siderolabs/sbc-raspberrypi, options: {configTxtAppend: a=1}}
customization:
  extraKernelArgs: [a]
  meta: [{key: 12, value: v}]
  systemExtensions: {officialExtensions: [siderolabs/b, siderolabs/a]}
  bootloader: grub
  secureboot: {enrollKeys: off, includeWellKnownCertificates: true}
  diskImage: {sectorSize: 4096}
`),
    );
    const target = { version: "1.13.2", platform: "metal", arch: "arm64", secureboot: false } as const;
    const form = settleForm({ ...formOfSchematic(opened.schematic, target), ...change });
    const query = new URLSearchParams(writeForm(form, opened).toString());
    const back = settleForm(readForm(query, "1.0.0", opened));
    expect(back).toEqual(form);
    expect(schematicId(formSchematic(back, opened.schematic))).not.toBe(opened.id);
  });

  it("needs no help where its texts are plain: the form alone gives the same ID", () => {
    const schematic = parseSchematic(`
customization:
  extraKernelArgs: ["a b", "it's", "'", "", -console]
  meta: [{key: 10, value: "x: 1\\n"}, {key: 10, value: ""}]
  systemExtensions: {officialExtensions: [z/z, a/a, z/z]}
`);
    const target = { version: "1.13.2", platform: "nocloud", arch: "amd64", secureboot: true } as const;
    const form = formOfSchematic(schematic, target);
    expect(form.cmdline).toBe("'a b' it's '''' '' -console");
    expect(schematicId(formSchematic(form))).toBe(schematicId(schematic));
  });
});

describe("a form that a post leads back to", () => {
  const stored: string[] = [];
  const services = {
    schematics: {
      create: async (text: string) => {
        stored.push(text);
        const schematic = parseSchematic(text);
        return { id: schematicId(schematic), canonical: text, schematic };
      },
    },
  } as unknown as Services;
  const plain = formOfSchematic(parseSchematic("customization: {}"), {
    ...{ version: "1.13.2", platform: "metal", arch: "amd64", secureboot: false },
  });

  it("stands in its address, and nothing is stored, while nothing is secret or long", async () => {
    stored.length = 0;
    expect(await keepForm(services, { ...plain, cmdline: "a=1" }, null, { search: "x", problem: "" })).toBe(
      "/?target=metal&version=1.13.2&arch=amd64&cmdline=a%3D1&search=x",
    );
    expect(stored).toEqual([]);
  });

  it.each<[string, Partial<FormState>]>([
    ["a machine configuration", { embeddedConfig: "token: hush" }],
    [
      "a machine configuration beside options that are no YAML",
      { embeddedConfig: "token: hush", target: "sbc", overlayOptions: "a: [" },
    ],
    ["a secret META value", { meta: [{ key: "0x10", value: "hush" }] }],
    ["a text that is too long", { cmdline: `hush${"x".repeat(7_000)}` }],
  ])("keeps %s out of the address and loses nothing", async (_what, change) => {
    const form = settleForm({ ...plain, ...change });
    stored.length = 0;
    const path = await keepForm(services, form, null, {});
    expect(path).not.toContain("hush");
    expect(path.length).toBeLessThan(400);
    const schematic = parseSchematic(stored[0] ?? "");
    const query = new URLSearchParams(path.slice("/?".length));
    const opened = { id: query.get("from") ?? "", schematic };
    expect(settleForm(readForm(query, "1.0.0", opened))).toEqual(form);
  });
});
