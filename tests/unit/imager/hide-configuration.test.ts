/** What is seen of an imager image that was given a machine configuration. */
import { describe, expect, it } from "vitest";
import { hideConfiguration } from "../../../lib/imager/steps/hide-configuration.ts";

const CONFIGURATION = `apiVersion: v1alpha1
kind: HostnameConfig
hostname: worker-33
machine:
    token: "abcdef.0123456789abcdef"
    ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJQakNCOGFBREFnRUNBaEFWTlV6
    a: b
`;

const shown = (...lines: string[]) => {
  const reword = hideConfiguration(CONFIGURATION);
  return lines.map(reword).filter((line) => line !== null);
};
const HIDDEN = "(hidden: it holds a part of the machine configuration)";
const PROFILE = "(hidden: the profile, which holds the machine configuration)";

describe("hideConfiguration", () => {
  it("shows what has nothing to do with the configuration", () => {
    const lines = ["[1/2] Write the kernel", "kernel command line: console=tty0", "a: b", "done"];
    expect(shown(...lines)).toEqual(lines);
  });

  it.each([
    "hostname: worker-33",
    "    +     hostname: worker-33   ",
    'cannot read "hostname: worker-33"',
    "time=x msg=worker-33",
    "token: abcdef.0123456789abcdef",
    '{"machine":{"token":"abcdef.0123456789abcdef"}}',
    '"    token: \\"abcdef.0123456789abcdef\\"\\n"',
    "CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
    Buffer.from(CONFIGURATION).toString("base64"),
    Buffer.from(CONFIGURATION).toString("base64").slice(76, 152),
  ])("hides %j", (line) => expect(shown(line)).toEqual([HIDDEN]));

  it("keeps the number of a step whose name is hidden", () => {
    expect(shown("[3/12] Set hostname: worker-33")).toEqual([`[3/12] ${HIDDEN}`]);
  });

  it("leaves the whole profile out, and shows what follows", () => {
    const profile = [
      "profile ready:",
      "arch: amd64",
      "customization:",
      "    embeddedMachineConfiguration: |",
      ...CONFIGURATION.split("\n").map((line) => `        ${line}`),
      "output:",
      "    kind: iso",
    ].filter((line) => line.trim() !== "");
    expect(shown("starting", ...profile, "skipped initramfs rebuild", "ISO ready")).toEqual([
      "starting",
      PROFILE,
      "skipped initramfs rebuild",
      "ISO ready",
    ]);
  });
});
