/** Smaller clouds and OpenStack. */
import { fileStem, fileUrl, imageLabel, needsUefi, offersPlatform } from "./addresses.ts";
import { chain, command, fetchSteps, unpacked } from "./shell.ts";
import type { Snippet } from "./types.ts";

const hetzner: Snippet = {
  id: "hetzner",
  name: "Hetzner Cloud",
  group: "cloud",
  applies: (context) => offersPlatform(context, "hcloud"),
  fits: ({ platform }) => platform === "hcloud",
  write(context) {
    const path = `${fileStem(context, "hcloud")}.raw.xz`;
    return {
      language: "sh",
      variables: [{ name: "DISK", value: "/dev/sda", note: "server-disk" }],
      body: chain([
        ...fetchSteps(context, path),
        `xz -dc ${path} | dd of="$DISK" bs=4M conv=fsync status=progress`,
        "reboot",
      ]),
      files: [path],
    };
  },
};

const packer: Snippet = {
  id: "hetzner-packer",
  name: "Hetzner Cloud, Packer",
  group: "cloud",
  applies: (context) => offersPlatform(context, "hcloud"),
  fits: () => false,
  write(context) {
    const path = `${fileStem(context, "hcloud")}.raw.xz`;
    const url = fileUrl(context, path);
    return {
      language: "hcl",
      variables: [
        { name: "location", value: "fsn1", note: "server-location" },
        { name: "server_type", value: "cx23", note: "server-type" },
      ],
      body: `packer {
  required_plugins {
    hcloud = {
      source  = "github.com/hetznercloud/hcloud"
      version = ">= 1.6.0"
    }
  }
}

source "hcloud" "talos" {
  image         = "debian-12"
  rescue        = "linux64"
  location      = local.location
  server_type   = local.server_type
  ssh_username  = "root"
  snapshot_name = "${imageLabel(context)}"
  snapshot_labels = {
    os      = "talos"
    version = "${context.version}"
  }
}

build {
  sources = ["source.hcloud.talos"]

  provisioner "shell" {
    inline = [
      "curl -fLO ${url}",
      "curl -fsSL ${url}.sha256 | sha256sum -c",
      "xz -dc ${path} | dd of=/dev/sda bs=4M conv=fsync",
    ]
  }
}`,
      files: [path],
    };
  },
};

const digitalOcean: Snippet = {
  id: "digital-ocean",
  name: "DigitalOcean",
  group: "cloud",
  applies: (context) => offersPlatform(context, "digital-ocean"),
  fits: ({ platform }) => platform === "digital-ocean",
  write(context) {
    const path = `${fileStem(context, "digital-ocean")}.raw.gz`;
    return {
      language: "sh",
      variables: [{ name: "REGION", value: "fra1", note: "region" }],
      body: command([
        `doctl compute image create ${imageLabel(context)} --region "$REGION"`,
        `--image-url ${fileUrl(context, path)}`,
      ]),
      files: [path],
    };
  },
};

const openstack: Snippet = {
  id: "openstack",
  name: "OpenStack",
  group: "cloud",
  applies: (context) => offersPlatform(context, "openstack"),
  fits: ({ platform }) => platform === "openstack",
  write(context) {
    const path = `${fileStem(context, "openstack")}.raw.xz`;
    const raw = unpacked(path);
    const uefi = needsUefi(context) ? " --property hw_firmware_type=uefi" : "";
    return {
      language: "sh",
      variables: [],
      body: chain([
        ...fetchSteps(context, path),
        ...raw.steps,
        command([
          `openstack image create --disk-format raw --container-format bare --file ${raw.name}`,
          `--property architecture=${context.arch === "arm64" ? "aarch64" : "x86_64"}${uefi} ${imageLabel(context)}`,
        ]),
      ]),
      files: [path],
    };
  },
};

const vultr: Snippet = {
  id: "vultr",
  name: "Vultr",
  group: "cloud",
  applies: (context) => offersPlatform(context, "vultr"),
  fits: ({ platform }) => platform === "vultr",
  write(context) {
    const path = `${fileStem(context, "vultr")}.iso`;
    return {
      language: "sh",
      variables: [],
      body: `vultr-cli iso create --url ${fileUrl(context, path)}`,
      files: [path],
    };
  },
};

export const MORE_CLOUD_SNIPPETS: readonly Snippet[] = [hetzner, packer, digitalOcean, openstack, vultr];
