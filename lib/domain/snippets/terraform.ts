/** Terraform and OpenTofu: the talos provider, and virtual machines of Proxmox. */
import { fileStem, fileUrl, installerReference, needsUefi } from "./addresses.ts";
import { hasGuestAgent, offersProxmox } from "./proxmox.ts";
import type { Snippet, SnippetContext } from "./types.ts";

const provider = (name: string, source: string, version: string): string => `terraform {
  required_providers {
    ${name} = {
      source  = "${source}"
      version = "${version}"
    }
  }
}`;

/** What the provider calls the machine: a board by its own name, else the platform. */
const machine = ({ board, platform }: SnippetContext): string =>
  board?.name ? `sbc           = "${board.name}"` : `platform      = "${platform}"`;

const talos: Snippet = {
  id: "terraform",
  name: "Terraform, siderolabs/talos",
  group: "tool",
  applies: ({ board }) => board === null || board.name !== null,
  fits: () => false,
  write: (context) => ({
    language: "hcl",
    variables: [
      { name: "cluster", value: "talos", note: "cluster" },
      { name: "endpoint", value: "https://10.0.0.2:6443", note: "endpoint" },
    ],
    body: `${provider("talos", "siderolabs/talos", ">= 0.7.0")}

provider "talos" {
  image_factory_url = "${context.publicUrl}"
}

data "talos_image_factory_urls" "node" {
  talos_version = "${context.version}"
  schematic_id  = "${context.schematicId}"
  ${machine(context)}
  architecture  = "${context.arch}"
}

resource "talos_machine_secrets" "cluster" {
  talos_version = "${context.version}"
}

data "talos_machine_configuration" "controlplane" {
  cluster_name     = local.cluster
  cluster_endpoint = local.endpoint
  machine_type     = "controlplane"
  machine_secrets  = talos_machine_secrets.cluster.machine_secrets
  talos_version    = "${context.version}"
  config_patches = [yamlencode({
    machine = { install = { image = "${installerReference(context)}" } }
  })]
}

output "urls" {
  value = data.talos_image_factory_urls.node.urls
}

output "controlplane" {
  value     = data.talos_machine_configuration.controlplane.machine_configuration
  sensitive = true
}`,
    files: [],
  }),
};

/** UEFI with empty key slots where the image needs it. */
function firmware(context: SnippetContext): string {
  if (!context.secureboot && !needsUefi(context)) return "";
  const tpm = `
  tpm_state {
    datastore_id = local.datastore
    version      = "v2.0"
  }
`;
  return `
  bios = "ovmf"

  efi_disk {
    datastore_id      = local.datastore
    type              = "4m"
    pre_enrolled_keys = false
  }
${context.secureboot ? tpm : ""}`;
}

const agent = (context: SnippetContext): string =>
  hasGuestAgent(context) ? "\n  agent {\n    enabled = true\n  }\n" : "";

const virtualMachine = (context: SnippetContext): string =>
  `resource "proxmox_virtual_environment_vm" "talos" {
  name          = "talos"
  node_name     = local.node
  machine       = "q35"
  scsi_hardware = "virtio-scsi-single"
${firmware(context)}${agent(context)}
  cpu {
    type  = "host"
    cores = 2
  }

  memory {
    dedicated = 4096
  }

  disk {
    interface    = "scsi0"
    datastore_id = local.datastore
    import_from  = proxmox_virtual_environment_download_file.talos.id
    size         = 20
  }

  network_device {
    bridge = local.bridge
  }

  operating_system {
    type = "l26"
  }

  serial_device {}
}`;

const proxmox: Snippet = {
  id: "terraform-proxmox",
  name: "Terraform, bpg/proxmox",
  group: "hypervisor",
  applies: offersProxmox,
  fits: () => false,
  write(context) {
    const path = `${fileStem(context, "nocloud")}.qcow2`;
    return {
      language: "hcl",
      variables: [
        { name: "endpoint", value: "https://pve.example.org:8006/", note: "api" },
        { name: "node", value: "pve", note: "node-name" },
        { name: "import", value: "local", note: "import-storage" },
        { name: "datastore", value: "local-lvm", note: "storage" },
        { name: "bridge", value: "vmbr0", note: "bridge" },
      ],
      body: `${provider("proxmox", "bpg/proxmox", ">= 0.80.0")}

provider "proxmox" {
  endpoint = local.endpoint
}

resource "proxmox_virtual_environment_download_file" "talos" {
  node_name    = local.node
  datastore_id = local.import
  content_type = "import"
  file_name    = "${context.version}-${context.schematicId.slice(0, 8)}-${path}"
  url          = "${fileUrl(context, path)}"
}

${virtualMachine(context)}`,
      files: [path],
    };
  },
};

export const TERRAFORM_SNIPPETS: readonly Snippet[] = [proxmox, talos];
