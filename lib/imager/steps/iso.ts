/** Step "iso": kernel, initramfs, boot loaders and their texts become one image that boots from disc and stick. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../domain/asset.ts";
import { ARCHES } from "../../domain/asset.ts";
import { quirks } from "../../domain/quirks.ts";
import { SECURE_BOOT_VARIABLES } from "../../formats/efi-auth.ts";
import { ISO_VARIANTS, xorrisoArguments } from "../../formats/iso-arguments.ts";
import { isoGrubConfig, isoVolumeId } from "../../formats/iso-texts.ts";
import { loaderConf } from "../../formats/loader-conf.ts";
import { EPOCH_ENVIRONMENT, ISO_DATE, SOURCE_DATE_EPOCH } from "../epoch.ts";
import { choiceParam, need, textParam } from "../params.ts";
import type { Product, StepContext, StepFunction } from "../types.ts";
import { commandLineParam } from "./command-line.ts";
import { SIGNING_CERTIFICATE } from "./enrollment.ts";
import { type EspFile, writeIsoEsp } from "./esp-image.ts";
import { GRUB_ELTORITO, GRUB_HYBRID_MBR } from "./grub-platforms.ts";

/** Name that firmware looks for on removable media (UEFI 2.10 §3.5.1.1). */
const EFI_FALLBACK: Record<Arch, string> = { amd64: "BOOTX64.EFI", arm64: "BOOTAA64.EFI" };

const RANDOM_SEED = "loader/random-seed";
const RANDOM_SEED_BYTES = 32;

/**
 * Params: version, variant, arch, commandLine, enroll, keys (SecureBoot only).
 * Needs, by variant: grub: kernel, initramfs, GRUB tree; hybrid: the same, then systemd-boot and UKI;
 * uefi: systemd-boot and UKI, then with keys the folder of what firmware enrolls.
 */
export const isoStep: StepFunction = async (params, needs, ctx) => {
  const version = textParam(params, "version");
  const variant = choiceParam(params, "variant", ISO_VARIANTS);
  const grafts: EspFile[] = [];
  if (variant !== "uefi")
    grafts.push(...(await grubFiles(await commandLineParam(params, needs), version, needs, ctx)));
  let esp: string | null = null;
  if (variant !== "grub") {
    const loader = variant === "uefi" ? needs : needs.slice(3);
    const name = EFI_FALLBACK[choiceParam(params, "arch", ARCHES)];
    const files = await systemdBootFiles(version, name, textParam(params, "enroll"), loader, ctx);
    const { sdBoot, uki, config, seed } = files;
    const keys = params.keys === true ? enrollmentFiles(need(loader, 2).path) : NO_KEYS;
    const others = [...keys.certificate, seed, ...keys.databases, config];
    esp = await writeIsoEsp({ sdBoot, uki, others, readOnly: RANDOM_SEED }, ctx);
    grafts.push(sdBoot, uki, config, seed, ...keys.certificate, ...keys.databases);
  }
  const out = join(ctx.dir, "image.iso");
  const forBios = variant === "hybrid" || (variant === "grub" && params.arch === "amd64");
  const named = quirks(version).isoLabel;
  await ctx.run(
    "xorriso",
    xorrisoArguments({
      variant,
      out,
      grafts,
      weights: await writeWeights(grafts, ctx),
      esp,
      hybridMbr: forBios ? join(need(needs, 2).path, "boot", GRUB_HYBRID_MBR) : null,
      elToritoPath: GRUB_ELTORITO,
      date: ISO_DATE,
      epoch: SOURCE_DATE_EPOCH,
      signed: params.keys === true,
      label: named ? { volumeId: isoVolumeId(version), volumeSetId: `Talos-${version}` } : null,
    }),
    { env: EPOCH_ENVIRONMENT, signal: ctx.signal },
  );
  return { path: out, shape: "file" };
};

async function grubFiles(
  commandLine: string,
  version: string,
  needs: Product[],
  ctx: StepContext,
): Promise<EspFile[]> {
  const config = join(ctx.dir, "grub.cfg");
  await writeFile(config, isoGrubConfig(commandLine, quirks(version).resetMenuEntry));
  const tree = need(needs, 2).path;
  const top = (await readdir(tree)).filter((name) => name !== "boot").sort();
  const grub = (await readdir(join(tree, "boot/grub"))).sort();
  return [
    { path: "boot/vmlinuz", source: need(needs, 0).path },
    { path: "boot/initramfs.xz", source: need(needs, 1).path },
    { path: "boot/grub/grub.cfg", source: config },
    ...grub.map((name) => ({ path: `boot/grub/${name}`, source: join(tree, "boot/grub", name) })),
    ...top.map((name) => ({ path: name, source: join(tree, name) })),
  ];
}

async function systemdBootFiles(
  version: string,
  fallback: string,
  enroll: string,
  needs: Product[],
  ctx: StepContext,
): Promise<{ sdBoot: EspFile; uki: EspFile; config: EspFile; seed: EspFile }> {
  const config = join(ctx.dir, "loader.conf");
  await writeFile(config, loaderConf(enroll));
  const seed = join(ctx.dir, "random-seed");
  await writeFile(seed, new Uint8Array(RANDOM_SEED_BYTES));
  return {
    sdBoot: { path: `EFI/BOOT/${fallback}`, source: need(needs, 0).path },
    uki: { path: `EFI/Linux/Talos-${version}.efi`, source: need(needs, 1).path },
    config: { path: "loader/loader.conf", source: config },
    seed: { path: RANDOM_SEED, source: seed },
  };
}

/** Keys where systemd-boot looks for them, and the certificate for people who enroll by hand. */
const enrollmentFiles = (folder: string): EnrollmentFiles => ({
  certificate: [{ path: "EFI/keys/uki-signing-cert.der", source: join(folder, SIGNING_CERTIFICATE) }],
  databases: SECURE_BOOT_VARIABLES.map((name) => ({
    path: `loader/keys/auto/${name}.auth`,
    source: join(folder, `${name}.auth`),
  })),
});

interface EnrollmentFiles {
  certificate: EspFile[];
  databases: EspFile[];
}
const NO_KEYS: EnrollmentFiles = { certificate: [], databases: [] };

/** One weight per stored file, falling in the order of the list; grafted folders are listed file by file. */
async function writeWeights(grafts: EspFile[], ctx: StepContext): Promise<string> {
  const paths: string[] = [];
  for (const { path, source } of grafts) paths.push(...(await filesBelow(source, path)));
  const lines = paths.map((path, index) => `${paths.length - index} /${path}`);
  const file = join(ctx.dir, "weights");
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

async function filesBelow(source: string, path: string): Promise<string[]> {
  const names = await readdir(source, { withFileTypes: true }).catch(() => null);
  if (names === null) return [path];
  const below: string[] = [];
  for (const entry of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    below.push(...(await filesBelow(join(source, entry.name), `${path}/${entry.name}`)));
  }
  return below;
}
