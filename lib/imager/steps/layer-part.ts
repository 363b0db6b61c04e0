/** The folder that steps making an image layer hand on: the packed layer and what is known about it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { type LayerMember, type PackedLayer, packLayer } from "../pack/layer.ts";
import type { Product, StepContext } from "../types.ts";

const factsSchema = z.object({ digest: z.string(), diffId: z.string(), sizeBytes: z.number() });

export interface LayerPart extends PackedLayer {
  /** The gzip file. */
  path: string;
}

const FILE = "layer.tar.gz";
const FACTS = "layer.json";

/** Packs the members, sorted by path as bytes, into a layer folder below the step's scratch folder. */
export async function makeLayerPart(members: LayerMember[], ctx: StepContext): Promise<Product> {
  const dir = join(ctx.dir, "layer");
  await mkdir(dir);
  const sorted = [...members].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  const facts = await packLayer(sorted, join(dir, FILE), ctx);
  await writeFile(join(dir, FACTS), JSON.stringify(facts));
  return { path: dir, shape: "tree" };
}

/** Reads a layer folder; internal when it is something else. */
export async function readLayerPart(product: Product): Promise<LayerPart> {
  const facts = factsSchema.safeParse(JSON.parse(await readFile(join(product.path, FACTS), "utf8")));
  if (!facts.success) throw new AppError("internal", "a layer has no description", { retryable: false });
  return { ...facts.data, path: join(product.path, FILE) };
}
