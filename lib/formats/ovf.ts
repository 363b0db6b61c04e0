/** The description of the virtual machine in an OVA package (DSP0243, Open Virtualization Format 1.0), and its checksums. */

export interface OvaDisk {
  /** Size of disk.vmdk in bytes. */
  fileBytes: number;
  /** Size of the disk inside it in bytes, a whole number of MiB. */
  diskBytes: number;
}

const MIB = 1024 * 1024;
const CPUS = 2;
const MEMORY_MIB = 2048;

const NAMESPACES = {
  xmlns: "http://schemas.dmtf.org/ovf/envelope/1",
  "xmlns:ovf": "http://schemas.dmtf.org/ovf/envelope/1",
  "xmlns:cim": "http://schemas.dmtf.org/wbem/wscim/1/common",
  "xmlns:rasd": "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData",
  "xmlns:vmw": "http://www.vmware.com/schema/ovf",
  "xmlns:vssd": "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData",
  "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
};
const VMDK_FORMAT = "http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized";

type Attributes = Readonly<Record<string, string>>;

/** An element: name, attributes, and either its text or what lies in it. */
interface Element {
  name: string;
  attributes: Attributes;
  content: string | Element[];
}

const element = (name: string, attributes: Attributes, content: string | Element[] = []): Element => ({
  name,
  attributes,
  content,
});
const text = (name: string, content: string): Element => element(name, {}, content);
const info = (content: string): Element => text("Info", content);

const setting = (name: string, key: string, value: string): Element =>
  element(name, { "ovf:required": "false", "vmw:key": key, "vmw:value": value });
const config = (key: string, value: string): Element => setting("vmw:Config", key, value);

/** A piece of virtual hardware; `facts` are its rasd elements, which the schema wants in alphabetical order. */
const item = (facts: Readonly<Record<string, string>>, attributes: Attributes = {}, more: Element[] = []) =>
  element("Item", attributes, [
    ...Object.entries(facts).map(([name, value]) => text(`rasd:${name}`, value)),
    ...more,
  ]);
const OPTIONAL = { "ovf:required": "false" };

/** ResourceType numbers are those of CIM_ResourceAllocationSettingData. */
const HARDWARE: Element[] = [
  item({
    AllocationUnits: "hertz * 10^6",
    Description: "Number of Virtual CPUs",
    ElementName: `${CPUS} virtual CPU(s)`,
    InstanceID: "1",
    ResourceType: "3",
    VirtualQuantity: String(CPUS),
  }),
  item({
    AllocationUnits: "byte * 2^20",
    Description: "Memory Size",
    ElementName: `${MEMORY_MIB}MB of memory`,
    InstanceID: "2",
    ResourceType: "4",
    VirtualQuantity: String(MEMORY_MIB),
  }),
  item({
    Address: "0",
    Description: "SCSI Controller",
    ElementName: "scsiController0",
    InstanceID: "3",
    ResourceSubType: "VirtualSCSI",
    ResourceType: "6",
  }),
  item({
    AddressOnParent: "0",
    ElementName: "disk0",
    HostResource: "ovf:/disk/vmdisk1",
    InstanceID: "4",
    Parent: "3",
    ResourceType: "17",
  }),
  item(
    {
      AddressOnParent: "2",
      AutomaticAllocation: "true",
      Connection: "VM Network",
      Description: 'VmxNet3 ethernet adapter on "VM Network"',
      ElementName: "ethernet0",
      InstanceID: "5",
      ResourceSubType: "VmxNet3",
      ResourceType: "10",
    },
    {},
    [
      config("slotInfo.pciSlotNumber", "32"),
      config("wakeOnLanEnabled", "false"),
      config("connectable.allowGuestControl", "false"),
    ],
  ),
  item({ AutomaticAllocation: "false", ElementName: "video", InstanceID: "6", ResourceType: "24" }, OPTIONAL),
  item(
    {
      AutomaticAllocation: "false",
      ElementName: "vmci",
      InstanceID: "7",
      ResourceSubType: "vmware.vmci",
      ResourceType: "1",
    },
    OPTIONAL,
  ),
];

const SETTINGS: Element[] = [
  config("tools.syncTimeWithHost", "false"),
  config("tools.afterPowerOn", "true"),
  config("tools.afterResume", "true"),
  config("tools.beforeGuestShutdown", "true"),
  config("tools.beforeGuestStandby", "true"),
  config("tools.toolsUpgradePolicy", "manual"),
  config("powerOpInfo.suspendType", "soft"),
  setting("vmw:ExtraConfig", "nvram", "talos.nvram"),
  setting("vmw:ExtraConfig", "disk.EnableUUID", "true"),
];

/** Where people paste the machine configuration when they import the package. */
const PRODUCT = element("ProductSection", OPTIONAL, [
  info("Talos Virtual Appliance"),
  element(
    "Property",
    { "ovf:userConfigurable": "true", "ovf:type": "string", "ovf:key": "talos.config", "ovf:value": "" },
    [text("Label", "Talos config data"), text("Description", "Inline Talos config")],
  ),
]);

const MACHINE = element("VirtualSystem", { "ovf:id": "vm" }, [
  info("A virtual machine"),
  text("Name", "talos"),
  PRODUCT,
  element("OperatingSystemSection", { "ovf:id": "101", "vmw:osType": "other3xLinux64Guest" }, [
    info("The kind of installed guest operating system"),
  ]),
  element("VirtualHardwareSection", { "ovf:transport": "com.vmware.guestInfo" }, [
    info("Virtual hardware requirements"),
    element("System", {}, [
      text("vssd:ElementName", "Virtual Hardware Family"),
      text("vssd:InstanceID", "0"),
      text("vssd:VirtualSystemIdentifier", "talos"),
      text("vssd:VirtualSystemType", "vmx-15"),
    ]),
    ...HARDWARE,
    ...SETTINGS,
  ]),
]);

/** disk.ovf: one machine with the disk disk.vmdk. The same for both architectures. */
export function ovfDescriptor({ fileBytes, diskBytes }: OvaDisk): string {
  const file = { "ovf:href": "disk.vmdk", "ovf:id": "file1", "ovf:size": String(fileBytes) };
  const disk = {
    "ovf:capacity": String(diskBytes / MIB),
    "ovf:capacityAllocationUnits": "byte * 2^20",
    "ovf:diskId": "vmdisk1",
    "ovf:fileRef": "file1",
    "ovf:format": VMDK_FORMAT,
  };
  const envelope = element("Envelope", { ...NAMESPACES, "vmw:buildId": "build-7948156" }, [
    element("References", {}, [element("File", file)]),
    element("DiskSection", {}, [info("Virtual disk information"), element("Disk", disk)]),
    element("NetworkSection", {}, [
      info("The list of logical networks"),
      element("Network", { "ovf:name": "VM Network" }, [text("Description", "The VM Network network")]),
    ]),
    MACHINE,
  ]);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${write(envelope, "")}`;
}

function write({ name, attributes, content }: Element, indent: string): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const open = `${indent}<${name}${pairs.join("")}`;
  if (typeof content === "string") return `${open}>${escapeXml(content)}</${name}>\n`;
  if (content.length === 0) return `${open}/>\n`;
  return `${open}>\n${content.map((child) => write(child, `${indent}  `)).join("")}${indent}</${name}>\n`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeXml = (value: string): string =>
  value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** disk.mf: SHA-256 of the disk and its description (lower-case hex), as DSP0243 §5.1 writes them. */
export const ovaManifest = (sums: { vmdk: string; ovf: string }): string =>
  `SHA256(disk.vmdk)= ${sums.vmdk}\nSHA256(disk.ovf)= ${sums.ovf}\n`;
