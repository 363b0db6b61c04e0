/** Booting over the network: iPXE, matchbox, booter. */
import { findPlatform } from "../platforms.ts";
import { quirks } from "../quirks.ts";
import { chainLine, fileStem, fileUrl, offersPlatform } from "./addresses.ts";
import { command } from "./shell.ts";
import type { Snippet, SnippetContext } from "./types.ts";

/** The chosen platform where it boots over the network, else bare metal. */
const netPlatform = ({ platform }: SnippetContext): string =>
  findPlatform(platform)?.bootMethods.includes("pxe") ? platform : "metal";

const offered = (context: SnippetContext): boolean =>
  offersPlatform(context, netPlatform(context)) && (!context.secureboot || quirks(context.version).uki);

const ipxe: Snippet = {
  id: "ipxe",
  name: "iPXE",
  group: "network",
  applies: offered,
  fits: ({ platform }) => findPlatform(platform)?.bootMethods.every((method) => method === "pxe") ?? false,
  write: (context) => ({
    language: "ipxe",
    variables: [],
    body: `#!ipxe\n\ndhcp\n${chainLine(context, fileStem(context, netPlatform(context)))}`,
    files: [],
  }),
};

const matchbox: Snippet = {
  id: "matchbox",
  name: "matchbox",
  group: "network",
  applies: (context) => context.cmdline !== null && offered(context),
  fits: () => false,
  write(context) {
    const { arch } = context;
    const files = context.secureboot
      ? [`${fileStem(context, netPlatform(context))}-uki.efi`]
      : [`kernel-${arch}`, `initramfs-${arch}.xz`];
    const [kernel = "", ...initrd] = files.map((path) =>
      fileUrl({ ...context, publicUrl: context.pxeUrl }, path),
    );
    const args = (context.cmdline ?? "").split(" ").filter((one) => one !== "");
    const id = `talos-${context.version}-${context.schematicId.slice(0, 8)}`;
    return {
      language: "json",
      variables: [],
      body: JSON.stringify({ id, name: id, boot: { kernel, initrd, args } }, null, 2),
      files,
    };
  },
};

const booter: Snippet = {
  id: "booter",
  name: "booter, Docker",
  group: "network",
  applies: (context) => netPlatform(context) === "metal" && offered(context),
  fits: () => false,
  write: (context) => ({
    language: "sh",
    variables: [],
    body: command([
      "docker run --rm --network host ghcr.io/siderolabs/booter:v0.3.0",
      `--image-factory-base-url=${context.publicUrl}`,
      `--image-factory-pxe-base-url=${context.pxeUrl}`,
      `--talos-version=${context.version} --schematic-id=${context.schematicId}`,
      ...(context.secureboot ? ["--secure-boot-enabled"] : []),
    ]),
    files: [],
  }),
};

export const NETWORK_SNIPPETS: readonly Snippet[] = [ipxe, matchbox, booter];
