/** talosctl: a machine configuration with the right installer, and a cluster on the own computer. */
import { isAtLeast } from "../versions.ts";
import { installerReference, registryHost } from "./addresses.ts";
import { chain, command } from "./shell.ts";
import type { Snippet, SnippetContext } from "./types.ts";

/** The first release whose talosctl makes clusters from the images of a factory. */
const FACTORY_CLUSTERS_SINCE = "1.12.0-alpha.2";

/** Nodes pull over HTTPS unless their configuration names another way. */
function mirror({ publicUrl }: SnippetContext): string[] {
  return publicUrl.startsWith("http://") ? [`--registry-mirror ${registryHost(publicUrl)}=${publicUrl}`] : [];
}

const config: Snippet = {
  id: "talosctl",
  name: "talosctl gen config",
  group: "tool",
  applies: () => true,
  fits: () => false,
  write(context) {
    const node = '--talosconfig talosconfig --nodes "$NODE" --endpoints "$NODE"';
    return {
      language: "sh",
      variables: [
        { name: "CLUSTER", value: "talos", note: "cluster" },
        { name: "NODE", value: "10.0.0.2", note: "node" },
        { name: "DISK", value: "/dev/sda", note: "install-disk" },
      ],
      body: chain([
        command([
          'talosctl gen config "$CLUSTER" "https://$NODE:6443" --install-disk "$DISK"',
          `--talos-version ${context.version} --install-image ${installerReference(context)}`,
          ...mirror(context),
        ]),
        'talosctl apply-config --insecure --nodes "$NODE" --file controlplane.yaml',
        `until talosctl ${node} bootstrap; do sleep 10; done`,
        `talosctl ${node} kubeconfig`,
      ]),
      files: [],
    };
  },
};

const cluster: Snippet = {
  id: "talosctl-cluster",
  name: "talosctl cluster create",
  group: "tool",
  applies: ({ version, board, secureboot }) =>
    board === null && !secureboot && isAtLeast(version, FACTORY_CLUSTERS_SINCE),
  fits: () => false,
  write: (context) => ({
    language: "sh",
    variables: [],
    body: command([
      "talosctl cluster create qemu",
      `--image-factory-url ${context.publicUrl}`,
      `--schematic-id ${context.schematicId} --talos-version ${context.version}`,
    ]),
    files: [],
  }),
};

export const TALOSCTL_SNIPPETS: readonly Snippet[] = [config, cluster];
