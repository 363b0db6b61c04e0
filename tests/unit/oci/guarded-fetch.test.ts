/** A fetch for addresses that people choose stays outside of private networks, whatever a name or a redirect says. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedFetch, isPublicAddress } from "../../../lib/oci/guarded-fetch.ts";

let server: Server;
let host: string;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === "/moved") response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    else response.end("here");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

describe("an address", () => {
  it.each(["1.1.1.1", "2606:4700:4700::1111"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "fe80::1",
    "fd00::1",
    "64:ff9b::7f00:1",
    "no address",
  ])("%s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("the fetch", () => {
  const refusal = /is a private address/;

  it.each([
    ["a literal", () => `http://${host}/`],
    ["a literal in brackets", () => "http://[::1]:1/"],
    ["a literal written as one number", () => `http://2130706433:${host.split(":")[1]}/`],
    ["a name that leads to this machine", () => `http://localhost:${host.split(":")[1]}/`],
  ])("does not ask %s", async (_name, address) => {
    const before = asked;
    await expect(guardedFetch({ allowed: [] })(address())).rejects.toThrow(refusal);
    expect(asked).toBe(before);
  });

  it("asks a private host that is allowed with its port, and none beside it", async () => {
    const reply = await guardedFetch({ allowed: [host] })(`http://${host}/`);
    expect(await reply.text()).toBe("here");
    await expect(guardedFetch({ allowed: ["127.0.0.1"] })(`http://${host}/`)).rejects.toThrow(refusal);
  });

  it("follows no redirect by itself", async () => {
    const reply = await guardedFetch({ allowed: [host] })(`http://${host}/moved`, { redirect: "follow" });
    expect(reply.status).toBe(302);
  });
});
