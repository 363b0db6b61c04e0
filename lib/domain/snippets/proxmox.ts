/** Proxmox VE: on its shell and over its API. */
import { fileStem, fileUrl, needsUefi, offersPlatform } from "./addresses.ts";
import { chain, command, fetchSteps, unpacked } from "./shell.ts";
import type { Snippet, SnippetContext } from "./types.ts";

const AGENT = "siderolabs/qemu-guest-agent";
const DISK_SIZE = "20G";

/** Proxmox runs on amd64 alone. */
export const offersProxmox = (context: SnippetContext): boolean =>
  context.arch === "amd64" && offersPlatform(context, "nocloud");

/** The agent of the host waits for one in the machine, so it is only turned on when there is one. */
export const hasGuestAgent = ({ extensions }: SnippetContext): boolean => extensions.includes(AGENT);

const fits = (context: SnippetContext): boolean => context.platform === "nocloud" && offersProxmox(context);

type Option = [option: string, value: string];

const agent = (context: SnippetContext): Option[] => (hasGuestAgent(context) ? [["agent", "enabled=1"]] : []);

/** UEFI with empty key slots: the image brings its own keys where it is signed. */
function firmware(context: SnippetContext, storage: string): Option[] {
  if (!context.secureboot && !needsUefi(context)) return [];
  const uefi: Option[] = [
    ["bios", "ovmf"],
    ["efidisk0", `${storage}:0,efitype=4m,pre-enrolled-keys=0`],
  ];
  return context.secureboot ? [...uefi, ["tpmstate0", `${storage}:0,version=v2.0`]] : uefi;
}

/** Everything of the machine but its disk. */
const hardware = (context: SnippetContext): Option[] => [
  ["name", "talos"],
  ["ostype", "l26"],
  ["machine", "q35"],
  ["cpu", "host"],
  ["cores", "2"],
  ["memory", "4096"],
  ["scsihw", "virtio-scsi-single"],
  ["net0", "virtio,bridge=$BRIDGE"],
  ["serial0", "socket"],
  ...agent(context),
  ...firmware(context, "$STORAGE"),
];

const quoted = (value: string): string => (value.includes("$") ? `"${value}"` : value);

const qm: Snippet = {
  id: "proxmox",
  name: "Proxmox VE",
  group: "hypervisor",
  applies: offersProxmox,
  fits,
  write(context) {
    const path = `${fileStem(context, "nocloud")}.raw.xz`;
    const raw = unpacked(path);
    const options = hardware(context).map(([name, value]) => `--${name} ${quoted(value)}`);
    const half = Math.ceil(options.length / 2);
    return {
      language: "sh",
      variables: [
        { name: "VMID", value: "9000", note: "vm-id" },
        { name: "STORAGE", value: "local-lvm", note: "storage" },
        { name: "BRIDGE", value: "vmbr0", note: "bridge" },
      ],
      body: chain([
        ...fetchSteps(context, path),
        ...raw.steps,
        command(['qm create "$VMID"', options.slice(0, half).join(" "), options.slice(half).join(" ")]),
        command([
          'qm set "$VMID" --boot order=scsi0',
          `--scsi0 "$STORAGE:0,import-from=$PWD/${raw.name},discard=on"`,
        ]),
        `qm disk resize "$VMID" scsi0 ${DISK_SIZE}`,
        'qm start "$VMID"',
      ]),
      files: [path],
    };
  },
};

/** bash: calls the API, and waits for the task that the answer names. */
const CALLS = `pve() { curl -fsS -H "Authorization: PVEAPIToken=$TOKEN" "$API/nodes/$NODE/$1" "\${@:2}"; }
field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }
run() {
  local task status
  task=$(pve "$@" | field data)
  [ -n "$task" ] || return
  while status=$(pve "tasks/$task/status") && [ "$(field status <<<"$status")" = running ]; do sleep 2; done
  [ "$(field exitstatus <<<"$status")" = OK ]
}`;

const api: Snippet = {
  id: "proxmox-api",
  name: "Proxmox VE API",
  group: "hypervisor",
  applies: offersProxmox,
  fits: () => false,
  write(context) {
    const path = `${fileStem(context, "nocloud")}.qcow2`;
    const url = fileUrl(context, path);
    const name = `${context.version}-${context.schematicId.slice(0, 8)}-${path}`;
    const send = (options: [string, string][]): string[] =>
      options.map(([option, value]) => `--data-urlencode ${quoted(`${option}=${value}`)}`);
    const pairs = send([...hardware(context), ["boot", "order=scsi0"]]);
    return {
      language: "sh",
      variables: [
        { name: "API", value: "https://pve.example.org:8006/api2/json", note: "api" },
        { name: "TOKEN", value: "root@pam!talos=00000000-0000-0000-0000-000000000000", note: "api-token" },
        { name: "NODE", value: "pve", note: "node-name" },
        { name: "VMID", value: "9000", note: "vm-id" },
        { name: "IMPORT", value: "local", note: "import-storage" },
        { name: "STORAGE", value: "local-lvm", note: "storage" },
        { name: "BRIDGE", value: "vmbr0", note: "bridge" },
      ],
      body: `${CALLS}\n\n${chain([
        `SUM=$(curl -fsSL ${url}.sha256 | cut -d' ' -f1)`,
        command([
          'run "storage/$IMPORT/download-url"',
          `--data-urlencode url=${url}`,
          `-d content=import -d filename=${name} -d checksum-algorithm=sha256 -d "checksum=$SUM"`,
        ]),
        command([
          'run qemu -d "vmid=$VMID"',
          ...pairs,
          `--data-urlencode "scsi0=$STORAGE:0,import-from=$IMPORT:import/${name},discard=on"`,
        ]),
        `pve "qemu/$VMID/resize" -X PUT -d disk=scsi0 -d size=${DISK_SIZE}`,
        'run "qemu/$VMID/status/start" -X POST',
      ])}`,
      files: [path],
    };
  },
};

export const PROXMOX_SNIPPETS: readonly Snippet[] = [qm, api];
