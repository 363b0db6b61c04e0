/** The kernel argument for a fixed address: what is written, what is refused, where it goes. */
import { describe, expect, it } from "vitest";
import { checkStaticIp, EMPTY_IP, type StaticIp, withStaticIp } from "../../../lib/domain/form/static-ip.ts";

const check = (fields: Partial<StaticIp>) => checkStaticIp({ ...EMPTY_IP, ...fields });

describe("a fixed address", () => {
  it.each<[Partial<StaticIp>, string]>([
    [{ address: "192.168.1.10/24" }, "ip=192.168.1.10:::255.255.255.0:::off"],
    [
      { address: "10.0.0.2", mask: "255.255.240.0", gateway: "10.0.15.1" },
      "ip=10.0.0.2::10.0.15.1:255.255.240.0:::off",
    ],
    [
      {
        ...{ address: " 192.168.1.10 ", mask: "/24", gateway: "192.168.1.1", hostname: "node-1.lab" },
        ...{ device: "eth0", dns1: "9.9.9.9", ntp: "192.168.1.1" },
      },
      "ip=192.168.1.10::192.168.1.1:255.255.255.0:node-1.lab:eth0:off:9.9.9.9::192.168.1.1",
    ],
    [
      { address: "2001:db8::10/64", gateway: "fe80::1", device: "eth0", dns1: "[2001:db8::53]" },
      "ip=[2001:db8::10]::[fe80::1]:64::eth0:off:[2001:db8::53]",
    ],
    [{ address: "10.0.0.1", mask: "32" }, "ip=10.0.0.1:::255.255.255.255:::off"],
  ])("%j is written as %s", (fields, argument) => {
    expect(check(fields)).toEqual({ faults: {}, argument });
  });

  it.each<[Partial<StaticIp>, object]>([
    [{}, { address: "missing", mask: "missing" }],
    [{ address: "192.168.1", mask: "24" }, { address: "address" }],
    [{ address: "192.168.1.256", mask: "24" }, { address: "address" }],
    [{ address: "192.168.01.1", mask: "24" }, { address: "address" }],
    [{ address: "1::2::3", mask: "64" }, { address: "address" }],
    [{ address: "10.0.0.1", mask: "33" }, { mask: "mask" }],
    [{ address: "10.0.0.1", mask: "255.0.255.0" }, { mask: "mask" }],
    [{ address: "2001:db8::1", mask: "255.255.255.0" }, { mask: "mask" }],
    [{ address: "10.0.0.1", mask: "24", gateway: "10.0.1.1" }, { gateway: "network" }],
    [{ address: "10.0.0.1", mask: "24", gateway: "fe80::1" }, { gateway: "family" }],
    [{ address: "10.0.0.1", mask: "24", hostname: "a_b" }, { hostname: "hostname" }],
    [{ address: "10.0.0.1", mask: "24", device: "eth0:1" }, { device: "device" }],
    [
      { address: "10.0.0.1", mask: "24", dns1: "dns.example", ntp: "x" },
      { dns1: "address", ntp: "address" },
    ],
  ])("%j is refused with %j", (fields, faults) => {
    expect(check(fields)).toEqual({ faults, argument: null });
  });

  it("takes the place of one for the same interface, else the end", () => {
    const argument = "ip=[2001:db8::10]:::64::eth0:off";
    expect(withStaticIp("a ip=10.0.0.2:::255.0.0.0::eth0:off b", argument)).toBe(`a ${argument} b`);
    expect(withStaticIp("ip=10.0.0.2:::255.0.0.0::eth1:off 'a b'", argument)).toBe(
      `ip=10.0.0.2:::255.0.0.0::eth1:off 'a b' ${argument}`,
    );
    expect(withStaticIp("", argument)).toBe(argument);
  });
});
