/** GET /llms.txt: the service in plain Markdown, for programs that read instead of click. */
import { type Api, createApi } from "./create-api.ts";
import { reply, TEXT } from "./replies.ts";

/** The page; {base} stands for the address of the factory. */
const PAGE = `# Casthouse

> A self-hosted image factory for Talos Linux. It speaks the dialect of the public Image Factory (factory.talos.dev):
> same schematic IDs, same paths, so scripts work after changing the host name.

Base address: {base}

## Ideas

- Schematic: a small YAML document that says how a stock image is altered: system extensions, kernel arguments, META
  values, a board overlay, boot loader. Its ID is the SHA-256 of its canonical text.
- Version: a Talos release such as v1.13.2. List them at {base}/versions.
- Model: schematic ID plus version. It names every file exactly.
- The ID of the empty schematic is 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba.

## Usual way

1. Post a schematic, keep the ID.
2. Download, PXE boot or pull the file for your machine with that ID and a version.
3. Keep the ID in your infrastructure code; upgrades use the same ID with a newer version.

## HTTP

- \`POST {base}/schematics\` body YAML or JSON: \`{"id": "<64 hex>", "schematic": "<canonical text>"}\`
- \`GET {base}/schematics/<id>\`: canonical text
- \`GET {base}/versions\`: JSON list, ascending
- \`GET {base}/version/<version>/extensions/official\`: name, ref, digest, author, description
- \`GET {base}/version/<version>/overlays/official\`: name, image, ref, digest (boards, from 1.7.0)
- \`GET {base}/image/<id>/<version>/<file>\`: builds when needed, then streams; ranges, ETag and HEAD work
  - \`<file>.sha256\`, \`<file>.sha512\`: checksum lines for sha256sum -c
  - \`<file>.sigstore.json\`: Sigstore bundle, signed by the key at {base}/oci/cosign/signing-key.pub
  - \`Prefer: respond-async\`: 202 with the address of the build instead of waiting
- \`HEAD\` of a file nobody built answers 200 with \`X-Asset-State: absent\` and builds nothing
- \`GET {base}/image/<id>/<version>/SHA256SUMS\`: checksums of all files that are ready
- \`GET {base}/spdx/<id>/<version>/<arch>\`: bill of materials, SPDX 2.3; with .cdx.json behind it CycloneDX 1.6
- \`GET {base}/api/v1/models/<id>/<version>/lock\`: every source image by digest
- \`GET {base}/api/v1/builds/<build>/events\`: server-sent events of a build
- \`GET {base}/openapi.json\`: all of it, described

| file | what |
| --- | --- |
| \`metal-amd64.iso\` | ISO for BIOS and UEFI |
| \`metal-amd64.raw.xz\`, \`metal-amd64.raw.zst\`, \`metal-amd64.raw.gz\`, \`metal-amd64.raw.tar.gz\`, \`metal-amd64.raw\` | disk image |
| \`nocloud-amd64.raw.xz\`, \`openstack-amd64.qcow2\`, \`azure-amd64.vhd.xz\`, \`vmware-amd64.ova\` | disk images of other platforms; any platform name works |
| \`metal-arm64.raw.xz\` | with an overlay in the schematic: disk image for that board |
| \`kernel-amd64\`, \`initramfs-amd64.xz\`, \`cmdline-metal-amd64\` | pieces for network boot |
| \`metal-amd64-uki.efi\` | unified kernel image |
| \`metal-amd64-secureboot.iso\`, \`metal-amd64-secureboot.raw.xz\`, \`metal-amd64-secureboot-uki.efi\` | signed for Secure Boot, where this factory has keys: {base}/secureboot/signing-cert.pem |
| \`installer-amd64.tar\`, \`installer-amd64-secureboot.tar\` | installer image as an archive |

## PXE

\`\`\`
#!ipxe
chain --replace --autofree {base}/pxe/<id>/<version>/metal-\${buildarch}
\`\`\`

## Registry

Installer images for \`talosctl upgrade\`: \`<host>/metal-installer/<id>:<version>\`, for other platforms \`<host>/<platform>-installer/<id>:<version>\`.

## Schematic

\`\`\`yaml
overlay:                 # boards only
    image: siderolabs/sbc-raspberrypi
    name: rpi_generic
    options: {}
customization:
    extraKernelArgs: [net.ifnames=0, -console, console=ttyS0]   # a leading "-" removes an argument
    meta:
        - key: 10
          value: "..."
    systemExtensions:
        officialExtensions: [siderolabs/qemu-guest-agent]
    bootloader: sd-boot  # dual-boot, sd-boot or grub; leave it out for the default
\`\`\`

## Examples

\`\`\`
curl -X POST --data-binary @schematic.yaml {base}/schematics
curl -LO {base}/image/<id>/v1.13.2/metal-amd64.iso
curl -LO {base}/image/<id>/v1.13.2/metal-amd64.iso.sha256 && sha256sum -c metal-amd64.iso.sha256
\`\`\`
`;

/** The page for a factory at this address. */
export const llmsText = (base: string): string => PAGE.replaceAll("{base}", () => base);

export function llmsRoutes(): Api {
  const app = createApi();
  app.get("/llms.txt", (c) => reply(c, llmsText(c.var.publicUrl), TEXT));
  return app;
}
