/** Names, labels and documents of presets. */
import { expect, it } from "vitest";
import {
  copyName,
  labelText,
  type Preset,
  parseLabels,
  parsePresetDocument,
  parsePresetInput,
  presetDocument,
  presetQuery,
} from "../../../lib/domain/preset.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";

const ID = "a".repeat(64);
const preset: Preset = {
  id: "01890000-0000-7000-8000-000000000000",
  name: "Café: lab",
  labels: { env: "lab", proxmox: "" },
  schematicId: ID,
  target: { version: "v1.13.2", platform: "nocloud", arch: "amd64", secureboot: true },
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

it("takes what is right and trims the name", () => {
  expect(parsePresetInput({ name: " Lab ", schematic: ID })).toEqual({
    name: "Lab",
    labels: {},
    schematic: ID,
  });
});

it.each([
  ["no name", { name: " ", schematic: ID }, "name"],
  ["a name that turns text around", { name: "a\u202eb", schematic: ID }, "name"],
  ["a long name", { name: "x".repeat(81), schematic: ID }, "name"],
  ["a label with a blank name", { name: "a", labels: { "a b": "" }, schematic: ID }, "labels.a b"],
  ["a label with a line break", { name: "a", labels: { a: "b\nc" }, schematic: ID }, "labels.a"],
  ["a short ID", { name: "a", schematic: "abc" }, "schematic"],
  ["an unknown field", { name: "a", schematic: ID, owner: "me" }, "preset"],
  ["a version that is none", { name: "a", schematic: ID, version: "latest" }, "version"],
  ["nothing", null, "preset"],
])("refuses %s, naming the field", (_name, value, field) => {
  let refusal: unknown;
  try {
    parsePresetInput(value);
  } catch (error) {
    refusal = error;
  }
  expect(isAppError(refusal) && refusal.code).toBe("invalid_input");
  expect(String(refusal)).toContain(`wrong at ${field}:`);
});

it("refuses more than twenty labels", () => {
  const labels = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`l${index}`, ""]));
  expect(() => parsePresetInput({ name: "a", labels, schematic: ID })).toThrow("at most 20 labels");
});

it("names a copy by the first number that is free, however the taken names are written", () => {
  expect(copyName("Lab", new Set(["lab", "lab 2", "lab 4"]))).toBe("Lab 3");
  expect(copyName("x".repeat(80), new Set()).length).toBeLessThanOrEqual(80);
});

it("reads and writes labels in one line", () => {
  expect(parseLabels(" env = lab,, proxmox ,a=b=c")).toEqual({ env: "lab", proxmox: "", a: "b=c" });
  expect(parseLabels(labelText(preset.labels))).toEqual(preset.labels);
});

it("travels as a document and comes back the same, blanks and quotes in the schematic included", () => {
  const canonical = "customization:\n    extraKernelArgs:\n        - \"a  b: c\"\n        - '#x'\n";
  const { rest, schematic } = parsePresetDocument(presetDocument(preset, canonical));
  expect(schematic).toBe(canonical);
  expect(rest).toEqual({ name: preset.name, labels: preset.labels, ...preset.target });
});

it.each([
  ["a text", "hello"],
  ["broken YAML", "name: [a"],
  ["a schematic", "customization: {}"],
  ["an alias bomb", "a: &a [x]\nname: *a\nschematic: *a"],
])("refuses %s as a document", (_name, text) => {
  expect(() => parsePresetDocument(text)).toThrow();
});

it("opens pages for its machine", () => {
  expect(presetQuery(preset).toString()).toBe("version=v1.13.2&platform=nocloud&arch=amd64&secureboot=true");
  expect(presetQuery({ target: { secureboot: false } }).toString()).toBe("");
});
