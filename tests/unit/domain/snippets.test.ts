/** Snippets: the right file for each target, texts that their programs read, nothing left to fill in but what is named. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseHcl } from "@cdktn/hcl2json";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { parseAssetPath } from "../../../lib/domain/asset-path.ts";
import { parseInstallerName, parseRegistryPath } from "../../../lib/domain/registry-path.ts";
import { installerReference, upgradeCommand } from "../../../lib/domain/snippets/addresses.ts";
import { SNIPPETS, snippetsFor } from "../../../lib/domain/snippets/catalog.ts";
import {
  SNIPPET_GROUPS,
  SNIPPET_IDS,
  SNIPPET_NOTES,
  type SnippetContext,
  type SnippetNote,
} from "../../../lib/domain/snippets/types.ts";
import { writeSnippet } from "../../../lib/domain/snippets/write-snippet.ts";
import en from "../../../messages/en.json" with { type: "json" };
import { EMPTY_SCHEMATIC_ID } from "../../fixtures/recipes.ts";
import {
  boardChoices,
  factoryAddresses,
  platformChoices,
  type WrittenSnippet,
  writtenSnippets,
} from "../../fixtures/snippet-choices.ts";

const PLACE = {
  publicUrl: "https://factory.example.org",
  pxeUrl: "http://boot.example.org:8080",
  schematicId: EMPTY_SCHEMATIC_ID,
};
const VERSIONS = ["v1.4.8", "v1.9.5", "v1.12.4", "v1.13.2", "v1.14.0-beta.2"];
const PLATFORM_CHOICES = platformChoices(PLACE, VERSIONS);
const WRITTEN = writtenSnippets([...PLATFORM_CHOICES, ...boardChoices(PLACE, ["v1.9.5", "v1.13.2"])]);

/** What each target takes, stated apart from the code: name of the platform's file and its ending. */
const TAKES: Record<string, RegExp> = {
  usb: /^metal-(amd64|arm64)(-secureboot)?\.iso$/,
  disk: /^metal-(amd64|arm64)(-secureboot)?\.raw\.zst$/,
  "rpi-imager": /^metal-arm64\.raw\.xz$/,
  board: /^metal-arm64\.raw\.xz$/,
  download: /^[a-zA-Z-]+-(amd64|arm64)(-secureboot)?\.(iso|ova|qcow2|vhd\.xz|raw\.(xz|gz|zst|tar\.gz))$/,
  proxmox: /^nocloud-amd64(-secureboot)?\.raw\.xz$/,
  "proxmox-api": /^nocloud-amd64(-secureboot)?\.qcow2$/,
  "terraform-proxmox": /^nocloud-amd64(-secureboot)?\.qcow2$/,
  libvirt: /^(metal|nocloud)-(amd64|arm64)(-secureboot)?\.qcow2$/,
  vmware: /^vmware-(amd64|arm64)\.ova$/,
  hyperv: /^metal-(amd64|arm64)\.iso$/,
  aws: /^aws-(amd64|arm64)\.raw\.xz$/,
  gcp: /^gcp-(amd64|arm64)\.raw\.tar\.gz$/,
  azure: /^azure-(amd64|arm64)\.vhd\.xz$/,
  hetzner: /^hcloud-amd64\.raw\.xz$/,
  "hetzner-packer": /^hcloud-amd64\.raw\.xz$/,
  "digital-ocean": /^digital-ocean-amd64\.raw\.gz$/,
  openstack: /^openstack-(amd64|arm64)\.raw\.xz$/,
  vultr: /^vultr-amd64\.iso$/,
  matchbox:
    /^(kernel-(amd64|arm64)|initramfs-(amd64|arm64)\.xz|[a-zA-Z-]+-(amd64|arm64)-secureboot-uki\.efi)$/,
};
/** Snippets that name no file: the program asks the factory itself. */
const WITHOUT_FILES = ["ipxe", "booter", "talosctl", "talosctl-cluster", "terraform"];

/** The first snippet of a platform. */
const FIRST: Record<string, string> = {
  ...{ metal: "usb", nocloud: "proxmox", aws: "aws", gcp: "gcp", azure: "azure", vmware: "vmware" },
  ...{ hcloud: "hetzner", "digital-ocean": "digital-ocean", openstack: "openstack", vultr: "vultr" },
  equinixMetal: "ipxe",
};

const hclLocals = z.object({ locals: z.array(z.record(z.string(), z.string())).default([]) });
const scratch = mkdtempSync(join(tmpdir(), "casthouse-snippets-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** One of each text in a language; texts that differ in versions alone count as one. */
function textsIn(language: string): WrittenSnippet[] {
  const seen = new Map<string, WrittenSnippet>();
  for (const one of WRITTEN)
    if (one.text.language === language)
      seen.set(one.shown.replace(/\d+[.-]\d+[.-]\d+(-beta[.-]\d)?/g, ""), one);
  return [...seen.values()];
}

/** What a program says about files of the shell; nothing when all is well. */
function checkShell(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error) throw error;
  return status === 0 ? "" : stdout + stderr;
}

const contextOf = (changes: Partial<SnippetContext>): SnippetContext => {
  const [base] = PLATFORM_CHOICES.filter(
    ({ version, platform }) => version === "v1.13.2" && platform === "metal",
  );
  if (!base) throw new Error("no choice for metal");
  return { ...base, ...changes };
};

describe("the files of snippets", () => {
  it("are of the kind that the target takes, with the chosen architecture and SecureBoot", () => {
    expect(Object.keys(TAKES).concat(WITHOUT_FILES).sort()).toEqual(SNIPPETS.map(({ id }) => id).sort());
    for (const { snippet, text, context, title } of WRITTEN) {
      if (WITHOUT_FILES.includes(snippet.id)) expect(text.files, title).toEqual([]);
      else expect(text.files.length, title).toBeGreaterThan(0);
      for (const path of text.files) {
        expect(path, title).toMatch(TAKES[snippet.id] ?? /$^/);
        const profile = parseAssetPath(path);
        expect(profile.arch, title).toBe(context.arch);
        const signed = ["kernel", "initramfs"].includes(profile.kind) ? false : context.secureboot;
        expect(profile.secureboot, title).toBe(signed);
      }
    }
  });

  it("are the ones that its text fetches, from this schematic and version", () => {
    for (const { text, shown, context, title, snippet } of WRITTEN) {
      const { schematicId, version } = context;
      const addresses = factoryAddresses(PLACE, shown);
      const folder = new RegExp(`^https?://[^/]+/(?:image|pxe)/${schematicId}/${version}/(.+)$`);
      const names = addresses.map((address) => folder.exec(address)?.[1] ?? address);
      expect(names, title).toEqual(snippet.id === "ipxe" ? [expect.stringMatching(/^[\w-]+$/)] : text.files);
    }
  });

  it("come from the address of firmware where firmware fetches them", () => {
    for (const { shown, snippet, title } of WRITTEN) {
      const firmware = snippet.group === "network" && snippet.id !== "booter";
      for (const address of factoryAddresses(PLACE, shown))
        expect(address.startsWith(firmware ? PLACE.pxeUrl : PLACE.publicUrl), title).toBe(true);
    }
  });
});

describe("the choice of snippets", () => {
  it("begins with what the machine asks for", () => {
    for (const context of PLATFORM_CHOICES) {
      const { fitting } = snippetsFor(context);
      const { platform, arch, secureboot } = context;
      const wanted = platform === "nocloud" && arch === "arm64" ? "libvirt" : FIRST[platform];
      const first = platform === "azure" && secureboot ? "download" : (wanted ?? "download");
      expect(fitting?.id, `${platform} ${arch} ${context.version}`).toBe(first);
    }
    const board = (overlay: string) =>
      snippetsFor(contextOf({ arch: "arm64", board: { overlay, name: null } }));
    expect(board("rpi_generic").fitting?.id).toBe("rpi-imager");
    expect(board("rock64").fitting?.id).toBe("board");
    expect(board("rock64").all.map(({ id }) => id)).toEqual(["board", "download", "talosctl"]);
  });

  it("offers no platform that lacks the architecture, the release or SecureBoot", () => {
    const ids = (changes: Partial<SnippetContext>) => snippetsFor(contextOf(changes)).all.map(({ id }) => id);
    expect(ids({ arch: "arm64" })).not.toContain("hetzner");
    expect(ids({ arch: "arm64" })).not.toContain("proxmox");
    expect(ids({ secureboot: true, bootloader: "sd-boot" })).not.toContain("aws");
    expect(ids({ secureboot: true, bootloader: "sd-boot" })).toContain("proxmox");
    expect(ids({ version: "v1.11.0" })).not.toContain("talosctl-cluster");
    expect(ids({ cmdline: null })).not.toContain("matchbox");
  });

  it("gives every snippet an address, a group and a place in the list once", () => {
    expect(SNIPPETS.map(({ id }) => id).sort()).toEqual([...SNIPPET_IDS].sort());
    for (const { id, group } of SNIPPETS) {
      expect(id).toMatch(/^[a-z0-9-]+$/);
      expect(SNIPPET_GROUPS).toContain(group);
    }
    expect(new Set(WRITTEN.map(({ snippet }) => snippet.id)).size).toBe(SNIPPETS.length);
  });
});

describe("the texts", () => {
  it("are read by bash and pass shellcheck", () => {
    const files = textsIn("sh").map(({ shown }, index) => {
      const file = join(scratch, `${index}.sh`);
      writeFileSync(file, `${shown}\n`);
      return file;
    });
    expect(files.length).toBeGreaterThan(40);
    for (const file of files) expect(checkShell("bash", ["-n", file])).toBe("");
    expect(checkShell("shellcheck", ["--shell=bash", "--format=gcc", ...files])).toBe("");
  });

  it("of Terraform and Packer are HCL, with every local that is used", async () => {
    const texts = textsIn("hcl");
    expect(texts.length).toBeGreaterThan(20);
    for (const { shown, title } of texts) {
      const { locals } = hclLocals.parse(await parseHcl("main.tf", shown));
      const used = [...shown.matchAll(/\blocal\.(\w+)/g)].map(([, name]) => name);
      expect(new Set(used), title).toEqual(new Set(Object.keys(locals[0] ?? {})));
    }
  });

  it("of matchbox are JSON with the command line in pieces", () => {
    for (const { shown, text, context } of textsIn("json")) {
      const profile = JSON.parse(shown);
      expect([profile.boot.kernel, ...profile.boot.initrd]).toHaveLength(text.files.length);
      expect(profile.boot.args.join(" ")).toBe(context.cmdline);
    }
  });

  it("of PowerShell close what they open and set what they use", () => {
    for (const { shown, title } of textsIn("powershell"))
      expect(powershellProblems(shown), title).toEqual([]);
    expect(powershellProblems('$A = "x"\nWrite-Host ($A')).toEqual(["( is not closed"]);
    expect(powershellProblems("Write-Host $B")).toEqual(["$B is not set"]);
    expect(powershellProblems('$A = "x')).toEqual(['line 1: " is not closed']);
  });

  it("of iPXE are a script of one chain", () => {
    for (const { shown } of textsIn("ipxe"))
      expect(shown.split("\n")).toEqual([
        "#!ipxe",
        "",
        "dhcp",
        expect.stringMatching(/^chain --autofree http:/),
      ]);
  });

  it("name everything that a person has to know, and use it", () => {
    const notes = new Set<string>();
    for (const { text, title } of WRITTEN) {
      for (const { name, note } of text.variables) {
        notes.add(note);
        expect(SNIPPET_NOTES, title).toContain(note);
        expect(text.body, `${title}: ${name}`).toMatch(new RegExp(`(\\$|local\\.)${name}\\b`));
      }
      expect(text.body, title).not.toMatch(/<[a-z-]+>|undefined|\bnull\b|TODO/);
      if (text.language !== "sh") continue;
      const set = [...text.body.matchAll(/(?:^|\s)(?:export |local )?([A-Z]+)=/gm)].map(([, name]) => name);
      const known = [...text.variables.map(({ name }) => name), ...set, "PWD"];
      for (const [, name] of text.body.matchAll(/\$\{?([A-Z]+)\b/g)) expect(known, title).toContain(name);
    }
    expect([...notes].sort()).toEqual([...SNIPPET_NOTES].sort());
  });
});

describe("the README", () => {
  const readme = readFileSync("README.md", "utf8");

  it("shows the snippet of Proxmox as the page does, with variables for address and ID", () => {
    const place = { publicUrl: "$F", schematicId: "$ID", platform: "nocloud" };
    const text = SNIPPETS.find(({ id }) => id === "proxmox")?.write(contextOf(place));
    if (!text) throw new Error("no snippet for Proxmox");
    const say = (note: SnippetNote) => en[`snippet.note.${note}`];
    expect(readme).toContain(`\`\`\`sh\n${writeSnippet(text, say)}\n\`\`\``);
  });

  it("shows Terraform, iPXE and the upgrade in the words of the snippets", async () => {
    for (const [, hcl = ""] of readme.matchAll(/```hcl\n([\s\S]*?)```/g)) await parseHcl("main.tf", hcl);
    expect(readme).toMatch(/content_type = "import"\n.*\n.*nocloud-amd64\.qcow2"/);
    expect(readme).toContain("\nchain --autofree http://");
    expect(readme).toContain(
      'talosctl upgrade --nodes "$NODE" --image factory.example.org/nocloud-installer/',
    );
  });
});

describe("the installer", () => {
  it.each([
    ["metal", "v1.13.2", false, "metal-installer"],
    ["nocloud", "v1.13.2", true, "nocloud-installer-secureboot"],
    ["aws", "v1.9.5", false, "installer"],
    ["metal", "v1.9.5", true, "installer-secureboot"],
  ])("of %s %s, SecureBoot %s, is %s", (platform, version, secureboot, name) => {
    const reference = installerReference({ ...PLACE, platform, version, secureboot });
    expect(reference).toBe(`factory.example.org/${name}/${EMPTY_SCHEMATIC_ID}:${version}`);
    const [, repository = "", tag = ""] = /^[^/]+\/(.+):(.+)$/.exec(reference) ?? [];
    expect(parseRegistryPath(`/v2/${repository}/manifests/${tag}`)?.target.kind).toBe("installer");
    expect(parseInstallerName(name).secureboot).toBe(secureboot);
    expect(upgradeCommand(reference)).toBe(`talosctl upgrade --nodes "$NODE" --image ${reference}`);
  });
});

/** Reads strings, brackets, comments and variables as about_Parsing describes them. */
function powershellProblems(text: string): string[] {
  const open: string[] = [];
  const problems: string[] = [];
  const known = new Set(["env", "true", "false", "null", "ErrorActionPreference"]);
  for (const [index, line] of text.split("\n").entries()) {
    if (line.startsWith("#")) continue;
    if ((line.match(/"/g) ?? []).length % 2 === 1) problems.push(`line ${index + 1}: " is not closed`);
    const assigned = /^\$(\w+) = /.exec(line)?.[1];
    for (const [, name = ""] of line.replace(/^\$\w+ = /, "").matchAll(/\$(\w+)/g))
      if (!known.has(name)) problems.push(`$${name} is not set`);
    if (assigned) known.add(assigned);
    for (const sign of line.replace(/"[^"]*"/g, "").match(/[(){}[\]]/g) ?? []) {
      if ("({[".includes(sign)) open.push(sign);
      else if ("({["[")}]".indexOf(sign)] !== open.pop())
        problems.push(`line ${index + 1}: ${sign} closes nothing`);
    }
  }
  return [...problems, ...open.map((sign) => `${sign} is not closed`)];
}
