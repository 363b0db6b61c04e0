/** Has a product looked at by the programs that people and firmware tools use for it. */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Arch, AssetProfile } from "../../lib/domain/asset.ts";
import { command } from "../sample-release/command.ts";

export interface ProductToCheck {
  file: string;
  profile: AssetProfile;
  version: string;
  arch: Arch;
  secureboot: boolean;
  /** PEM. */
  certificate: string;
  scratch: string;
}

/** Test that reads everything, and a reader of the beginning. */
const PACKED = {
  ".xz": { test: "xz -tT0", read: "xz -dc" },
  ".zst": { test: "zstd -tq", read: "zstd -dcq" },
  ".gz": { test: "gzip -t", read: "gzip -dc" },
  ".tar.gz": { test: "tar -tz", read: "tar -xzO disk.raw" },
};

/** Rejects with the words of the program that finds a fault. */
export async function checkProduct(product: ProductToCheck): Promise<void> {
  const dir = await mkdtemp(join(product.scratch, "check-"));
  try {
    await checkKind(product, dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function checkKind(product: ProductToCheck, dir: string): Promise<void> {
  const { file, profile } = product;
  switch (profile.kind) {
    case "kernel":
      return expectTrue((await stat(file)).size > 0, "the kernel is empty");
    case "cmdline": {
      const line = await readFile(file, "utf8");
      return expectTrue(/^talos\.platform=\S+( \S+)*$/.test(line), `the command line is ${line}`);
    }
    case "initramfs":
      await command("zstd", ["-tq", file]);
      return;
    case "uki":
      return checkSigned(file, product);
    case "iso":
      return checkIso(product, dir);
    case "installer": {
      const facts = await command("skopeo", ["inspect", `docker-archive:${file}`]);
      return expectTrue(facts.includes(`"Architecture": "${product.arch}"`), "wrong architecture");
    }
    case "image":
      return checkDisk(product, dir);
  }
}

/** Firmware's view of an EFI program: signed by our key with SecureBoot, else readable. */
async function checkSigned(file: string, { secureboot, certificate }: ProductToCheck): Promise<void> {
  if (secureboot) await command("sbverify", ["--cert", certificate, file]);
  else await command("sbverify", ["--list", file]);
}

async function checkIso(product: ProductToCheck, dir: string): Promise<void> {
  const { file, version, secureboot } = product;
  const report = await command("xorriso", ["-indev", file, "-report_el_torito", "plain"]);
  expectTrue(report.includes("El Torito boot img"), "the ISO has no boot image");
  if (!secureboot) return;
  const uki = join(dir, "uki.efi");
  const path = `/EFI/Linux/Talos-${version}.efi`;
  await command("xorriso", ["-osirrox", "on", "-indev", file, "-extract", path, uki]);
  await checkSigned(uki, product);
}

async function checkDisk(product: ProductToCheck, dir: string): Promise<void> {
  const { file, profile } = product;
  if (profile.outFormat !== "raw") return checkPacked(product, PACKED[profile.outFormat]);
  switch (profile.disk?.format) {
    case "raw":
      return checkRaw(product, dir);
    case "qcow2":
      await command("qemu-img", ["check", "-f", "qcow2", file]);
      return;
    case "vhd": {
      const facts = await command("qemu-img", ["info", "-f", "vpc", "--output=json", file]);
      const size = Number(/"virtual-size": (\d+)/.exec(facts)?.[1]);
      return expectTrue(size === (await stat(file)).size - 512, `the VHD says it holds ${size} bytes`);
    }
    case "ova":
      return checkOva(file, dir);
    case undefined:
      return expectTrue(false, "the image has no format");
  }
}

async function checkRaw(product: ProductToCheck, dir: string): Promise<void> {
  const table = await command("sgdisk", ["-v", product.file]);
  expectTrue(table.includes("No problems found"), table);
  if (!product.secureboot) return;
  const uki = join(dir, "uki.efi");
  // The EFI partition begins at 1 MiB.
  await command("mcopy", [
    "-n",
    "-i",
    `${product.file}@@1M`,
    `::EFI/Linux/Talos-${product.version}.efi`,
    uki,
  ]);
  await checkSigned(uki, product);
}

async function checkOva(file: string, dir: string): Promise<void> {
  const members = await command("tar", ["-tf", file]);
  expectTrue(members === "disk.ovf\ndisk.mf\ndisk.vmdk\n", `the OVA holds ${members}`);
  await command("tar", ["-xf", file, "-C", dir]);
  const sums = `sed -E 's/^SHA256\\((.*)\\)= /SHA256 (\\1) = /' disk.mf | sha256sum -c --strict --quiet`;
  await command("bash", ["-c", `cd ${dir} && ${sums}`]);
  await command("qemu-img", ["check", "-f", "vmdk", join(dir, "disk.vmdk")]);
}

/** The compressor's own test; the first bytes inside must be those of the format. */
async function checkPacked({ file, profile }: ProductToCheck, { test, read }: Packed): Promise<void> {
  await command("bash", ["-c", `${test} < ${file}`]);
  const magic = { raw: "", qcow2: "QFI", vhd: "", ova: "disk.ovf" }[profile.disk?.format ?? "raw"];
  const head = await command("bash", ["-c", `${read} < ${file} 2> /dev/null | head -c ${magic.length}`]);
  expectTrue(head === magic, `inside is ${JSON.stringify(head)}`);
}

type Packed = (typeof PACKED)[keyof typeof PACKED];

function expectTrue(good: boolean, complaint: string): void {
  if (!good) throw new Error(complaint);
}
