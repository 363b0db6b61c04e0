/** Collects the inputs and steps of a plan and gives every one its content key. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Phase } from "../../domain/build-phases.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import { AppError } from "../../errors/app-error.ts";
import { OP_VERSIONS, type OpName } from "../ops.ts";
import type { BuildPlan, Json, PlanInput, PlanStep } from "../types.ts";
import { canonicalJson } from "./canonical-json.ts";

/** An input without its kind, which the adding method gives. */
type Source<K extends PlanInput["kind"]> = Omit<Extract<PlanInput, { kind: K }>, "kind">;

export interface NewStep {
  id: string;
  op: OpName;
  phase: Phase;
  title: string;
  params: Record<string, Json>;
  /** Ids of inputs and earlier steps, in the order the step function expects. */
  needs: string[];
  /** Keep the output for other builds? */
  part: boolean;
}

/** The growing plan. Every adding method gives the id to put into `needs` of later steps. */
export interface PlanBuilder {
  /** One regular file of a source image. The same id twice must mean the same file. */
  imageFile(source: Source<"image-file">): string;
  /** The flattened tree of a source image. */
  imageTree(source: Source<"image-tree">): string;
  /** A folder of a source image; empty when the image has no such folder. */
  imageFolder(source: Source<"image-folder">): string;
  /** Configuration and layers of a source image, as they are. */
  imageLayers(source: Source<"image-layers">): string;
  /** A step over things already added. The same id twice must have the same key. */
  step(step: NewStep): string;
  /** The plan whose asset is the step `last`; what it does not need, however indirectly, is left out. */
  finish(recipe: Pick<Recipe, "version" | "profile" | "sample">, last: string): BuildPlan;
}

const hash = (value: Json): string => bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));

/**
 * An empty plan. Keys are SHA-256 over canonical JSON: for an input over what is taken from which digest (the
 * repository does not count, equal digests are equal bytes); for a step over op, op version, params and the keys
 * of its needs. Ids, titles and phases are for people and never change a key.
 */
export function planBuilder(): PlanBuilder {
  const inputs = new Map<string, PlanInput>();
  const steps = new Map<string, PlanStep>();
  const keys = new Map<string, string>();

  const remember = (id: string, key: string): boolean => {
    const known = keys.get(id);
    if (known !== undefined && known !== key) {
      throw new AppError("internal", `the plan uses the id ${id} for two different things`);
    }
    keys.set(id, key);
    return known === undefined;
  };
  const keyOf = (id: string): string => {
    const key = keys.get(id);
    if (key === undefined) throw new AppError("internal", `the plan needs ${id} before it is added`);
    return key;
  };

  const add = (input: PlanInput): string => {
    const { id, repository: _wherever, ...taken } = input;
    if (remember(id, hash(taken))) inputs.set(id, input);
    return id;
  };

  return {
    imageFile: (source) => add({ ...source, kind: "image-file" }),
    imageTree: (source) => add({ ...source, kind: "image-tree" }),
    imageFolder: (source) => add({ ...source, kind: "image-folder" }),
    imageLayers: (source) => add({ ...source, kind: "image-layers" }),
    step(step) {
      const { id, op, params, needs } = step;
      const key = hash({ op, v: OP_VERSIONS[op], params, needs: needs.map(keyOf) });
      if (remember(id, key)) steps.set(id, { ...step, key });
      return id;
    },
    finish({ version, profile, sample }, last) {
      const wanted = reachable(steps, last);
      return {
        ...{ v: 1, version, profile, sample },
        inputs: [...inputs.values()].filter((input) => wanted.has(input.id)),
        steps: [...steps.values()].filter((step) => wanted.has(step.id)),
        key: keyOf(last),
      };
    },
  };
}

function reachable(steps: ReadonlyMap<string, PlanStep>, last: string): Set<string> {
  const wanted = new Set<string>();
  const pending = [last];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (wanted.has(id)) continue;
    wanted.add(id);
    pending.push(...(steps.get(id)?.needs ?? []));
  }
  return wanted;
}
