/** What snippets are made of: the choice they are written for, and the text they become. */
import type { Arch } from "../asset.ts";
import type { Bootloader } from "../recipe-types.ts";

/** Everything a snippet may mention; all of it is known when the page of a schematic is made. */
export interface SnippetContext {
  /** Base of downloads, without trailing slash. */
  publicUrl: string;
  /** Base of what firmware fetches, without trailing slash. */
  pxeUrl: string;
  schematicId: string;
  /** Tag with "v". */
  version: string;
  platform: string;
  arch: Arch;
  secureboot: boolean;
  /** Set when the schematic has an overlay. */
  board: { overlay: string; name: string | null } | null;
  extensions: readonly string[];
  /** What disk images of this choice start with. */
  bootloader: Bootloader;
  /** Kernel command line of the platform, null when it cannot be had. */
  cmdline: string | null;
}

export type SnippetLanguage = "sh" | "hcl" | "powershell" | "ipxe" | "json";

/** Values of ?snippet=, and ends of message keys. */
export const SNIPPET_IDS = [
  ...["usb", "disk", "rpi-imager", "board", "download", "proxmox", "proxmox-api", "libvirt", "vmware"],
  ...["hyperv", "aws", "gcp", "azure", "hetzner", "hetzner-packer", "digital-ocean", "openstack", "vultr"],
  ...["ipxe", "matchbox", "booter", "talosctl", "talosctl-cluster", "terraform-proxmox", "terraform"],
] as const;
export type SnippetId = (typeof SNIPPET_IDS)[number];

/** What a person has to know: ends of message keys. */
export const SNIPPET_NOTES = [
  ...["vm-id", "vm-name", "storage", "import-storage", "bridge", "node-name", "api", "api-token"],
  ...["network", "datastore", "switch", "folder", "bucket", "s3-bucket", "region", "resource-group"],
  ...["location", "storage-account", "gallery", "server-location", "server-type", "stick", "card"],
  ...["target-disk", "server-disk", "install-disk", "cluster", "endpoint", "node"],
] as const;
export type SnippetNote = (typeof SNIPPET_NOTES)[number];

export interface SnippetVariable {
  name: string;
  /** What most people can leave as it is, or an example. */
  value: string;
  note: SnippetNote;
}

export interface SnippetText {
  language: SnippetLanguage;
  /** What the person changes, in order. */
  variables: SnippetVariable[];
  /** What follows the variables. */
  body: string;
  /** Files it fetches, as last segments of asset paths. */
  files: string[];
}

export const SNIPPET_GROUPS = ["machine", "hypervisor", "cloud", "network", "tool"] as const;
export type SnippetGroup = (typeof SNIPPET_GROUPS)[number];

export interface Snippet {
  id: SnippetId;
  /** Product, and tool where there are several, as their makers write them; null where the name is a word of the language. */
  name: string | null;
  group: SnippetGroup;
  /** Whether this choice can be used that way at all. */
  applies(context: SnippetContext): boolean;
  /** Whether it is what the chosen machine asks for. */
  fits(context: SnippetContext): boolean;
  write(context: SnippetContext): SnippetText;
}
