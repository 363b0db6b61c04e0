/** Hypervisors other than Proxmox: libvirt, vSphere, Hyper-V. */
import { fileStem, fileUrl, needsUefi, offersPlatform } from "./addresses.ts";
import { chain, command, fetchSteps } from "./shell.ts";
import type { Snippet, SnippetContext } from "./types.ts";

const DISK_SIZE = "20G";

const libvirtPlatform = ({ platform }: SnippetContext): string =>
  platform === "nocloud" ? "nocloud" : "metal";

/** UEFI where the image needs it; for a signed one a firmware that checks, with empty key slots, and a TPM. */
function libvirtFirmware(context: SnippetContext): string[] {
  if (!context.secureboot) return needsUefi(context) ? ["--boot uefi"] : [];
  const features = [
    "firmware.feature0.name=secure-boot,firmware.feature0.enabled=yes",
    "firmware.feature1.name=enrolled-keys,firmware.feature1.enabled=no",
  ];
  return [
    `--boot firmware=efi,${features.join(",")}`,
    "--tpm backend.type=emulator,backend.version=2.0,model=tpm-crb",
  ];
}

const libvirt: Snippet = {
  id: "libvirt",
  name: "libvirt",
  group: "hypervisor",
  applies: (context) => offersPlatform(context, libvirtPlatform(context)),
  fits: ({ platform, arch }) => platform === "nocloud" && arch === "arm64",
  write(context) {
    const path = `${fileStem(context, libvirtPlatform(context))}.qcow2`;
    return {
      language: "sh",
      variables: [
        { name: "NAME", value: "talos", note: "vm-name" },
        { name: "NETWORK", value: "default", note: "network" },
        { name: "FOLDER", value: "/var/lib/libvirt/images", note: "folder" },
      ],
      body: chain([
        ...fetchSteps(context, path),
        `sudo install -m 0644 ${path} "$FOLDER/$NAME.qcow2"`,
        `sudo qemu-img resize "$FOLDER/$NAME.qcow2" ${DISK_SIZE}`,
        command([
          'sudo virt-install --connect qemu:///system --name "$NAME" --memory 4096 --vcpus 2 --import',
          ...(context.arch === "arm64" ? ["--arch aarch64"] : []),
          "--osinfo detect=on,require=off --graphics none --noautoconsole",
          ...libvirtFirmware(context),
          '--disk "path=$FOLDER/$NAME.qcow2,bus=virtio" --network "network=$NETWORK,model=virtio"',
        ]),
      ]),
      files: [path],
    };
  },
};

const vsphere: Snippet = {
  id: "vmware",
  name: "VMware vSphere",
  group: "hypervisor",
  applies: (context) => offersPlatform(context, "vmware"),
  fits: ({ platform }) => platform === "vmware",
  write(context) {
    const path = `${fileStem(context, "vmware")}.ova`;
    return {
      language: "sh",
      variables: [
        { name: "NAME", value: "talos", note: "vm-name" },
        { name: "DATASTORE", value: "datastore1", note: "datastore" },
      ],
      body: chain([
        ...fetchSteps(context, path),
        `govc import.ova -name "$NAME" -ds "$DATASTORE" ${path}`,
        'govc vm.change -vm "$NAME" -c 2 -m 4096 -e disk.enableUUID=1',
        `govc vm.disk.change -vm "$NAME" -disk.name disk-1000-0 -size ${DISK_SIZE}`,
        'govc vm.power -on "$NAME"',
      ]),
      files: [path],
    };
  },
};

/** Hyper-V takes no keys of others, so a signed image starts there no better than any. */
const hyperv: Snippet = {
  id: "hyperv",
  name: "Hyper-V",
  group: "hypervisor",
  applies: (context) => !context.secureboot && offersPlatform(context, "metal"),
  fits: () => false,
  write(context) {
    const path = `${fileStem(context, "metal")}.iso`;
    const url = fileUrl(context, path);
    return {
      language: "powershell",
      variables: [
        { name: "Name", value: "talos", note: "vm-name" },
        { name: "Switch", value: "Default Switch", note: "switch" },
        { name: "Folder", value: "C:\\Hyper-V", note: "folder" },
      ],
      body: [
        '$ErrorActionPreference = "Stop"',
        "New-Item -ItemType Directory -Force $Folder | Out-Null",
        `$Iso = Join-Path $Folder "${path}"`,
        `Invoke-WebRequest -UseBasicParsing -Uri "${url}" -OutFile $Iso`,
        `$Sum = (Invoke-RestMethod -Uri "${url}.sha256").Split(" ")[0]`,
        `if ((Get-FileHash -Algorithm SHA256 $Iso).Hash -ne $Sum) { throw "${path}: SHA-256" }`,
        'New-VM -Name $Name -Generation 2 -MemoryStartupBytes 4GB -SwitchName $Switch -NewVHDPath (Join-Path $Folder "$Name.vhdx") -NewVHDSizeBytes 20GB',
        "Set-VM -Name $Name -ProcessorCount 2 -StaticMemory",
        "Add-VMDvdDrive -VMName $Name -Path $Iso",
        "Set-VMFirmware -VMName $Name -EnableSecureBoot Off -BootOrder (Get-VMHardDiskDrive -VMName $Name), (Get-VMDvdDrive -VMName $Name)",
        "Start-VM -Name $Name",
      ].join("\n"),
      files: [path],
    };
  },
};

export const HYPERVISOR_SNIPPETS: readonly Snippet[] = [libvirt, vsphere, hyperv];
