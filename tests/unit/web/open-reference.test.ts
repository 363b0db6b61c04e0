/** What can be pasted to open it. */
import { describe, expect, it } from "vitest";
import { readPasted } from "../../../lib/domain/form/open-reference.ts";

const ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
const schematic = (target: object = {}) => ({ kind: "schematic", id: ID, target });
const metal = { platform: "metal", secureboot: false };
const file = { ...metal, arch: "amd64", version: "1.13.2" };

describe("a pasted text", () => {
  it.each<[string, object]>([
    [ID, schematic()],
    [`  ${ID.toUpperCase()}\n`, schematic()],
    [`"${ID}",`, schematic()],
    [`factory.talos.dev/installer/${ID}:v1.9.5`, schematic({ ...metal, version: "1.9.5" })],
    [
      `nocloud-installer-secureboot/${ID}:v1.13.2`,
      schematic({ platform: "nocloud", secureboot: true, version: "1.13.2" }),
    ],
    [
      `10.0.0.1:5000/mirror/aws-installer/${ID}:latest@sha256:${ID}`,
      schematic({ platform: "aws", secureboot: false }),
    ],
    [`docker://h/metal-installer/${ID}`, schematic(metal)],
    [
      `talosctl upgrade -n 10.0.0.2 -i h/metal-installer/${ID}:v1.13.2`,
      schematic({ ...metal, version: "1.13.2" }),
    ],
    [`https://h/image/${ID}/v1.13.2/metal-amd64.iso`, schematic(file)],
    [
      `http://h:3000/sub/path/image/${ID}/1.13.2/metal-amd64-secureboot.raw.zst.sha256`,
      schematic({ ...file, secureboot: true }),
    ],
    [
      `https://h/image/${ID}/v1.13.2/kernel-arm64?filename=k`,
      schematic({ arch: "arm64", version: "1.13.2" }),
    ],
    [
      `https://h/image/${ID}/v1.13.2/digital-ocean-installer-amd64.tar`,
      schematic({ ...file, platform: "digital-ocean" }),
    ],
    [`https://h/image/${ID}/v1.13.2/whatever`, schematic({ version: "1.13.2" })],
    [
      `curl -LO 'https://h/image/${ID}/v1.13.2/aws-arm64.raw.xz'`,
      schematic({ ...file, platform: "aws", arch: "arm64" }),
    ],
    [`chain --autofree http://h/pxe/${ID}/v1.13.2/metal-amd64`, schematic(file)],
    [`chain http://h/pxe/${ID}/v1.13.2/metal-\${buildarch}`, schematic({ version: "1.13.2" })],
    [`/pxe/${ID}/v1.13.2/metal-amd64`, schematic(file)],
    [`h/schematics/${ID}`, schematic()],
    [
      `https://h/schematics/${ID}?version=v1.13.2&platform=nocloud&arch=arm64&secureboot=true#schematic`,
      schematic({ version: "1.13.2", platform: "nocloud", arch: "arm64", secureboot: true }),
    ],
    [
      `https://factory.talos.dev/?arch=amd64&platform=metal&schematic-id=${ID}&target=metal&version=1.13.2`,
      schematic({ arch: "amd64", platform: "metal", version: "1.13.2" }),
    ],
    [
      "https://h/?target=metal&version=1.13.2&cmdline=a+b",
      { kind: "form", query: "target=metal&version=1.13.2&cmdline=a+b" },
    ],
    ["customization: {}", { kind: "yaml", text: "customization: {}" }],
    ['{"customization": {}}', { kind: "yaml", text: '{"customization": {}}' }],
    ["# mine\ncustomization:\n", { kind: "yaml", text: "# mine\ncustomization:\n" }],
    ["customisation:\n  a: 1", { kind: "yaml", text: "customisation:\n  a: 1" }],
    [`customization:\n  extraKernelArgs: ["talos.config=https://h/image/${ID}/v1.13.2/x"]`, { kind: "yaml" }],
    ["https://h/talosctl/v1.13.2/talosctl-linux-amd64", { kind: "talosctl" }],
    ["https://example.com/", { kind: "unknown" }],
    ["https://h/image/banana/v1.13.2/metal-amd64.iso", { kind: "unknown" }],
    [ID.slice(1), { kind: "unknown" }],
    [`h/alpine/${ID}:v1`, { kind: "unknown" }],
    ["", { kind: "unknown" }],
    ["https://h/%ZZ", { kind: "unknown" }],
  ])("%s", (text, expected) => {
    expect(readPasted(text)).toMatchObject(expected);
  });
});
