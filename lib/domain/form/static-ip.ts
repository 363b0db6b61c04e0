/** The kernel argument `ip=` for a fixed address, put together from fields and checked. */
import { joinArguments, splitArguments } from "./argument-text.ts";

export const IP_FIELDS = ["address", "mask", "gateway", "hostname", "device", "dns1", "dns2", "ntp"] as const;
export type IpField = (typeof IP_FIELDS)[number];
export type StaticIp = Record<IpField, string>;

export const EMPTY_IP: StaticIp = {
  ...{ address: "", mask: "", gateway: "", hostname: "", device: "", dns1: "", dns2: "", ntp: "" },
};

/** family: not of the same kind as the address; network: the gateway is outside of the address's network. */
export type IpFault = "missing" | "address" | "mask" | "hostname" | "device" | "family" | "network";

export interface CheckedIp {
  faults: Partial<Record<IpField, IpFault>>;
  /** Null while something is wrong. */
  argument: string | null;
}

const V4_BITS = 32;
const V6_BITS = 128;

function parseV4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

/** RFC 4291 section 2.2, without zones and without a dotted tail. */
function parseV6(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const written = groups.flat();
  const missing = 8 - written.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  if (!written.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  const all = [...(groups[0] ?? []), ...Array<string>(missing).fill("0"), ...(groups[1] ?? [])];
  return all.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

type Address = { bits: typeof V4_BITS | typeof V6_BITS; value: bigint };

function parseAddress(text: string): Address | null {
  const v4 = parseV4(text);
  if (v4 !== null) return { bits: V4_BITS, value: v4 };
  const v6 = parseV6(text.replace(/^\[(.*)\]$/, "$1"));
  return v6 === null ? null : { bits: V6_BITS, value: v6 };
}

/** Length of a prefix written as number or as dotted mask; null when it is neither. */
function prefixOf(text: string, bits: number): number | null {
  const plain = text.replace(/^\//, "");
  if (/^\d{1,3}$/.test(plain)) return Number(plain) >= 1 && Number(plain) <= bits ? Number(plain) : null;
  const mask = bits === V4_BITS ? parseV4(plain) : null;
  if (mask === null || mask === 0n) return null;
  const ones = mask.toString(2);
  return ones.length === V4_BITS && /^1+0*$/.test(ones) ? ones.replaceAll("0", "").length : null;
}

const dotted = (prefix: number): string => {
  const mask = ((1n << BigInt(prefix)) - 1n) << BigInt(V4_BITS - prefix);
  return [24n, 16n, 8n, 0n].map((shift) => String((mask >> shift) & 255n)).join(".");
};

const LINK_LOCAL = 0xfe80n;
const isLinkLocal = ({ bits, value }: Address): boolean => bits === V6_BITS && value >> 112n === LINK_LOCAL;

/** RFC 1123 section 2.1. */
const HOSTNAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** What the kernel allows, without what would end the field. */
const DEVICE = /^[^\s:/]{1,15}$/;

/** "192.168.1.10/24" in the address field fills the mask. */
function spread(fields: StaticIp): StaticIp {
  const trimmed = { ...fields };
  for (const name of IP_FIELDS) trimmed[name] = fields[name].trim();
  const [address = "", prefix] = trimmed.address.split("/");
  return prefix === undefined ? trimmed : { ...trimmed, address, mask: trimmed.mask || prefix };
}

function otherFault(text: string, own: Address | null): IpFault | null {
  if (text === "") return null;
  const other = parseAddress(text);
  if (other === null) return "address";
  return own !== null && other.bits !== own.bits ? "family" : null;
}

function gatewayFault(text: string, own: Address | null, prefix: number | null): IpFault | null {
  const fault = otherFault(text, own);
  const gateway = parseAddress(text);
  if (fault !== null || gateway === null || own === null || prefix === null || isLinkLocal(gateway))
    return fault;
  const shift = BigInt(own.bits - prefix);
  return gateway.value >> shift === own.value >> shift ? null : "network";
}

const bracketed = (text: string): string => {
  const plain = text.replace(/^\[(.*)\]$/, "$1");
  return plain.includes(":") ? `[${plain}]` : plain;
};

function compose(ip: StaticIp, own: Address, prefix: number): string {
  const mask = own.bits === V4_BITS ? dotted(prefix) : String(prefix);
  const addresses = [ip.dns1, ip.dns2, ip.ntp].map(bracketed);
  const parts = [bracketed(ip.address), "", bracketed(ip.gateway), mask, ip.hostname, ip.device, "off"];
  return `ip=${[...parts, ...addresses].join(":").replace(/:+$/, "")}`;
}

/** The argument for the fields, or what is wrong with each. Name servers and time servers are addresses of either kind. */
export function checkStaticIp(fields: StaticIp): CheckedIp {
  const ip = spread(fields);
  const own = parseAddress(ip.address);
  const prefix = own === null ? null : prefixOf(ip.mask, own.bits);
  const found: Record<IpField, IpFault | null> = {
    address: ip.address === "" ? "missing" : own === null ? "address" : null,
    mask: ip.mask === "" ? "missing" : own !== null && prefix === null ? "mask" : null,
    gateway: gatewayFault(ip.gateway, own, prefix),
    hostname: ip.hostname === "" || HOSTNAME.test(ip.hostname) ? null : "hostname",
    device: ip.device === "" || DEVICE.test(ip.device) ? null : "device",
    dns1: otherFault(ip.dns1, null),
    dns2: otherFault(ip.dns2, null),
    ntp: otherFault(ip.ntp, null),
  };
  const faults: Partial<Record<IpField, IpFault>> = {};
  for (const name of IP_FIELDS) {
    const fault = found[name];
    if (fault !== null) faults[name] = fault;
  }
  const whole = own !== null && prefix !== null && Object.keys(faults).length === 0;
  return { faults, argument: whole ? compose(ip, own, prefix) : null };
}

/** Interface that an `ip=` argument names; empty when none. Colons inside brackets do not count. */
const deviceOf = (argument: string): string => argument.replace(/\[[^\]]*\]/g, "").split(":")[5] ?? "";

/** The typed line with the argument: in place of one for the same interface, else at the end. */
export function withStaticIp(line: string, argument: string): string {
  const words = splitArguments(line);
  const same = words.findIndex((word) => word.startsWith("ip=") && deviceOf(word) === deviceOf(argument));
  return joinArguments(same < 0 ? [...words, argument] : words.with(same, argument));
}
