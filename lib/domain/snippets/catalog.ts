/** All snippets, and which of them a choice can use. */
import { CLOUD_SNIPPETS } from "./clouds.ts";
import { HYPERVISOR_SNIPPETS } from "./hypervisors.ts";
import { MACHINE_SNIPPETS } from "./machines.ts";
import { MORE_CLOUD_SNIPPETS } from "./more-clouds.ts";
import { NETWORK_SNIPPETS } from "./network.ts";
import { PROXMOX_SNIPPETS } from "./proxmox.ts";
import { TALOSCTL_SNIPPETS } from "./talosctl.ts";
import { TERRAFORM_SNIPPETS } from "./terraform.ts";
import type { Snippet, SnippetContext } from "./types.ts";

/** In the order of the page. */
export const SNIPPETS: readonly Snippet[] = [
  ...MACHINE_SNIPPETS,
  ...PROXMOX_SNIPPETS,
  ...HYPERVISOR_SNIPPETS,
  ...CLOUD_SNIPPETS,
  ...MORE_CLOUD_SNIPPETS,
  ...NETWORK_SNIPPETS,
  ...TALOSCTL_SNIPPETS,
  ...TERRAFORM_SNIPPETS,
];

/** The snippets of a choice, and the one its machine asks for: the first that fits, else the plain download. */
export function snippetsFor(context: SnippetContext): { all: Snippet[]; fitting: Snippet | null } {
  const all = SNIPPETS.filter((snippet) => snippet.applies(context));
  const fitting =
    all.find((snippet) => snippet.fits(context)) ?? all.find(({ id }) => id === "download") ?? all[0] ?? null;
  return { all, fitting };
}
