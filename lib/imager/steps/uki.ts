/** Step "uki": assembles the unified kernel image on the release's systemd stub. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import { AppError } from "../../errors/app-error.ts";
import { KERNEL_HEAD_BYTES, kernelRelease } from "../../formats/kernel-release.ts";
import { osRelease } from "../../formats/os-release.ts";
import { layoutPe, type PeLayout, parsePe } from "../../formats/pe.ts";
import { type UkiDescription, type UkiSection, ukiSections } from "../../formats/uki.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { listParam, need, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { commandLineParam } from "./command-line.ts";
import { measuredSignatures } from "./measured-signatures.ts";
import { requireKeys, signInPlace } from "./signing.ts";
import { type Piece, readPiece, writePieces } from "./write-pieces.ts";

/** Distribution name shown by systemd-boot's menu, unless a profile has its own. */
const NAME = "Talos";
const STUB_HEAD_BYTES = 64 * 1024;

/**
 * Params: version, distribution (optional), commandLine, profiles; certificate and pcrKey when the image is to be signed.
 * Needs: stub, kernel, initramfs; then, to sign, digests of kernel and initramfs; then what commandLineParam names.
 */
export const ukiStep: StepFunction = async (params, needs, ctx) => {
  const stub = need(needs, 0).path;
  const files = { kernel: need(needs, 1).path, initramfs: need(needs, 2).path };
  const keys = params.certificate === undefined ? null : requireKeys(params, ctx);
  const sections = ukiSections({
    ...(await describe(params, needs)),
    pcrPublicKey: keys?.pcr.publicKeyPem ?? null,
  });
  const stubHead = await readPiece(stub, 0, STUB_HEAD_BYTES);
  const signatures =
    keys === null
      ? []
      : await measuredSignatures(sections, keys, {
          stub,
          stubHead,
          kernel: need(needs, 3).path,
          initramfs: need(needs, 4).path,
        });
  const contents = await Promise.all(sections.map((section) => contentOf(section, files, signatures)));
  const appended = sections.map(({ name }, index) => ({ name, sizeBytes: contents[index]?.sizeBytes ?? 0 }));
  const path = join(ctx.dir, "uki.efi");
  const layout = layOut(stubHead, appended);
  await writePieces(path, peFile(layout, stub, stubHead, contents), ctx.signal);
  if (keys !== null) await signInPlace(path, keys, ctx);
  return { path, shape: "file" };
};

async function describe(
  params: Parameters<StepFunction>[0],
  needs: Parameters<StepFunction>[1],
): Promise<Omit<UkiDescription, "pcrPublicKey">> {
  const version = textParam(params, "version");
  return {
    osRelease: osRelease(
      params.distribution === undefined ? NAME : textParam(params, "distribution"),
      version,
    ),
    commandLine: await commandLineParam(params, needs),
    kernelRelease: kernelRelease(await readPiece(need(needs, 1).path, 0, KERNEL_HEAD_BYTES)),
    hasProfiles: quirks(version).ukiProfiles,
    profiles: await Promise.all(
      listParam(params, "profiles").map(async (profile) => ({
        id: textParam(profile, "id"),
        title: textParam(profile, "title"),
        commandLine: await commandLineParam(profile, needs),
      })),
    ),
  };
}

interface Content {
  piece: Piece;
  sizeBytes: number;
}

async function contentOf(
  { content }: UkiSection,
  files: { kernel: string; initramfs: string },
  signatures: string[],
): Promise<Content> {
  if ("file" in content) {
    const file = files[content.file];
    const sizeBytes = (await lstat(file)).size;
    return { piece: { file, length: sizeBytes }, sizeBytes };
  }
  const text = "text" in content ? content.text : (signatures[content.signatureOf] ?? "");
  const piece = new TextEncoder().encode(text);
  return { piece, sizeBytes: piece.length };
}

function layOut(stubHead: Uint8Array, appended: { name: string; sizeBytes: number }[]): PeLayout {
  try {
    return layoutPe(stubHead, appended, SOURCE_DATE_EPOCH);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("build_failed", `the systemd stub of the release cannot be extended: ${reason}`, {
      retryable: false,
      cause,
    });
  }
}

function* peFile(
  layout: PeLayout,
  stub: string,
  stubHead: Uint8Array,
  contents: Content[],
): Generator<Piece> {
  yield layout.headers;
  const own = parsePe(stubHead).sections;
  for (const [index, section] of layout.sections.entries()) {
    const source = own[index];
    if (source) {
      if (source.rawSizeBytes > 0)
        yield { file: stub, offset: source.rawOffset, length: source.rawSizeBytes };
      continue;
    }
    const content = contents[index - own.length];
    if (!content) continue;
    yield content.piece;
    yield { zeros: section.rawSizeBytes - content.sizeBytes };
  }
}
