/** Step "imager-container": an imager image makes the file, from a profile on its standard input and files laid beside it. */
import { lstat, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { listParam, need, optionalTextParam, textParam } from "../params.ts";
import type { Json, Product, StepContext, StepFunction } from "../types.ts";
import { readImageFacts } from "./base-image.ts";
import { hideConfiguration } from "./hide-configuration.ts";
import { writeLayout } from "./oci-layout.ts";
import { placeReadable } from "./place-readable.ts";
import { requireKeys } from "./signing.ts";

/** "[3/12] Write the ISO image": what casthouse's own imager says when a step is done. */
const STEP_OF = /^\[\d+\/([1-9]\d{0,3})\] (.*)/;

/**
 * Params: profile (YAML), inputs (per need but the first: path, and layout: the architecture where it is an image), file
 * (name of what is made), config (embedded machine configuration, secret), and with SecureBoot which keys sign. Needs:
 * the imager image, then the inputs.
 */
export const imagerContainerStep: StepFunction = async (params, needs, ctx) => {
  const { containers } = ctx;
  if (!containers) {
    throw new AppError("internal", "this worker runs no containers, but the build was planned for one", {
      hint: "Web and worker processes need the same BUILD_ENGINE; ask for the file again when they have.",
      retryable: false,
    });
  }
  const secureboot = params.certificate !== undefined;
  if (secureboot) requireKeys(params, ctx);
  const [input, output, temporary] = await Promise.all(
    ["input", "output", "temporary"].map(async (name) => {
      const folder = join(ctx.dir, name);
      await mkdir(folder);
      return folder;
    }),
  );
  if (!input || !output || !temporary) throw new AppError("internal", "the step has no folders");
  await layInputs(params, needs, input);
  const image = need(needs, 0);
  const { name } = await readImageFacts(image);
  const file = textParam(params, "file");
  const title = `the imager image ${shortName(name)}`;
  const config = optionalTextParam(params, "config");
  await containers.run(
    image,
    {
      ...{ title, args: ["-"], stdin: profileBytes(params), input, output, temporary, file },
      signal: ctx.signal,
      onLine: teller(ctx),
      ...(config === null ? {} : { reword: hideConfiguration(config) }),
    },
    secureboot,
  );
  // A disk's worth of space, which what follows may need.
  for (const folder of [input, temporary]) await rm(folder, { recursive: true, force: true });
  return takeFile(title, join(output, file), file);
};

/** repository@sha256:0123456789ab, which is enough for people. */
const shortName = (name: string): string => name.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, "$1");

async function layInputs(params: Record<string, Json>, needs: Product[], folder: string): Promise<void> {
  for (const [index, entry] of listParam(params, "inputs").entries()) {
    const product = need(needs, index + 1);
    const target = join(folder, textParam(entry, "path"));
    const layout = optionalTextParam(entry, "layout");
    await mkdir(dirname(target), { recursive: true });
    if (layout === null) await placeReadable(product.path, target);
    else await writeLayout(product, target, layout === "host" ? hostArch() : layout);
  }
}

const hostArch = (): string => (process.arch === "arm64" ? "arm64" : "amd64");

const profileSchema = z.looseObject({ customization: z.looseObject({}).default({}) });

/** The embedded configuration stands beside the profile in the plan, so that the plan can be shown without it. */
function profileBytes(params: Record<string, Json>): Uint8Array {
  const text = textParam(params, "profile");
  const config = optionalTextParam(params, "config");
  if (config === null) return new TextEncoder().encode(text);
  const profile = profileSchema.parse(parse(text));
  const customization = { ...profile.customization, embeddedMachineConfiguration: config };
  return new TextEncoder().encode(stringify({ ...profile, customization }, { lineWidth: 0 }));
}

/** Every line goes into the log; done steps are counted, as they end in any order. */
function teller(ctx: StepContext): (line: string) => void {
  let done = 0;
  return (line) => {
    ctx.log(line);
    const [, of, note] = STEP_OF.exec(line) ?? [];
    if (of === undefined) return;
    done += 1;
    ctx.progress(Math.min(100, Math.round((100 * done) / Number(of))), note ?? "");
  };
}

/** Only a plain file counts: an image may leave a link to something it could not read itself. */
async function takeFile(title: string, path: string, file: string): Promise<Product> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isFile()) return { path, shape: "file" };
  throw new AppError("tool_failed", `${title} ended well, but made no file ${file}`, {
    hint: "It may be an image of another release, or no imager; docs/engines.md says what an imager image has to do.",
    details: { tool: "imager", exitCode: 0, signal: null, tail: "" },
    retryable: false,
  });
}
