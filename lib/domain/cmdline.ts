/** The kernel command line: its algebra, and the one line that boots a recipe. docs/command-line.md explains both. */
import { metaEnvironment } from "./meta-env.ts";
import { platformArguments } from "./platform-arguments.ts";
import { quirks } from "./quirks.ts";
import type { Recipe } from "./recipe-types.ts";

/** White space as Unicode defines it; U+FEFF is not part of it. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

export interface AppendOptions {
  /** Keys whose earlier values are replaced in place. */
  overwrite?: readonly string[];
  /** True: `-key` removes the parameter, `-key=value` removes that value. */
  deleteNegated?: boolean;
}

/** An ordered list of parameters, each with a key that occurs once and an ordered list of values. */
export class Cmdline {
  /** A Map keeps insertion order, and setting a key again keeps its place. */
  private readonly parameters = new Map<string, string[]>();

  /** Splits at white space (quotes mean nothing) and at the first "=" of each word; repeats join the first occurrence. */
  static parse(text: string): Cmdline {
    const cmdline = new Cmdline();
    for (const word of text.split(SPACE)) {
      if (word === "") continue;
      const at = word.indexOf("=");
      cmdline.append(at < 0 ? word : word.slice(0, at), at < 0 ? "" : word.slice(at + 1));
    }
    return cmdline;
  }

  /** Keys in order. */
  keys(): string[] {
    return [...this.parameters.keys()];
  }

  /** Values of a key in order, empty for an unknown key. */
  values(key: string): readonly string[] {
    return this.parameters.get(key) ?? [];
  }

  /** Adds a value behind the key's other values, or a new parameter at the end. */
  append(key: string, value: string): this {
    const values = this.parameters.get(key);
    if (values === undefined) this.parameters.set(key, [value]);
    else values.push(value);
    return this;
  }

  /** Replaces all values of a key in place, or adds the parameter at the end. */
  set(key: string, values: readonly string[]): this {
    this.parameters.set(key, [...values]);
    return this;
  }

  /** Sets each parameter of the list; an item with spaces is several arguments. */
  setAll(args: readonly string[]): this {
    const list = Cmdline.parse(args.join(" "));
    for (const key of list.keys()) this.set(key, list.values(key));
    return this;
  }

  /** Adds a list whose repeats are merged before anything is applied; see AppendOptions for the exceptions. */
  appendAll(args: readonly string[], { overwrite = [], deleteNegated = false }: AppendOptions = {}): this {
    const list = Cmdline.parse(args.join(" "));
    for (const key of list.keys()) {
      const values = list.values(key);
      if (deleteNegated && key.length > 1 && key.startsWith("-")) this.remove(key.slice(1), values);
      else if (overwrite.includes(key)) this.set(key, values);
      else for (const value of values) this.append(key, value);
    }
    return this;
  }

  /** Removes the parameter when the first value is empty, else the listed values; an emptied parameter keeps its place. */
  private remove(key: string, values: readonly string[]): void {
    if (values[0] === "") this.parameters.delete(key);
    else if (this.parameters.has(key)) {
      this.set(
        key,
        this.values(key).filter((value) => !values.includes(value)),
      );
    }
  }

  /** `key` for an empty value, else `key=value`, joined by single spaces. */
  toString(): string {
    const words: string[] = [];
    for (const [key, values] of this.parameters) {
      for (const value of values) words.push(value === "" ? key : `${key}=${value}`);
    }
    return words.join(" ").replace(/ +$/, "");
  }
}

/** Arguments every image of a release starts with, before anyone adds theirs. */
function defaultArguments(version: string): string[] {
  const rules = quirks(version);
  return [
    ...(rules.initOnAlloc ? ["init_on_alloc=1"] : []),
    "slab_nomerge",
    "pti=on",
    "consoleblank=0",
    ...(rules.nvmeTimeoutEverywhere ? ["nvme_core.io_timeout=4294967295"] : []),
    "printk.devkmsg=on",
    ...(rules.ima ? ["ima_template=ima-ng", "ima_appraise=fix", "ima_hash=sha512"] : []),
    ...(rules.selinux ? ["selinux=1"] : []),
    ...(rules.moduleSignatures ? ["module.sig_enforce=1"] : []),
    ...(rules.procMemOverride ? ["proc_mem.force_override=never"] : []),
  ];
}

/** The part of a recipe that decides the command line. */
export type CmdlineRecipe = Pick<Recipe, "version" | "profile" | "meta" | "extraKernelArgs">;

/**
 * The command line of a recipe, without a line end. `overlayArguments` are what the board's overlay asks for.
 * Throws invalid_input for an unknown platform and for META values that the encoding would damage.
 */
export function composeCmdline(recipe: CmdlineRecipe, overlayArguments: readonly string[] = []): string {
  const { version, profile } = recipe;
  const rules = quirks(version);
  const platform = platformArguments(profile.platform, profile.arch, version);
  const cmdline = new Cmdline().append("talos.platform", platform.name).setAll(platform.arguments);
  if (rules.haltIfInstalled && profile.kind === "iso") cmdline.append("talos.halt_if_installed", "1");
  cmdline.setAll(overlayArguments);
  cmdline.appendAll(defaultArguments(version));
  if (profile.secureboot && rules.lockdown) cmdline.appendAll(["lockdown=confidentiality"]);
  if (recipe.meta.length > 0 && profile.kind !== "image") {
    cmdline.append("talos.environment", metaEnvironment(recipe.meta, version));
  }
  cmdline.appendAll(recipe.extraKernelArgs, {
    overwrite: ["console", "talos.platform"],
    deleteNegated: true,
  });
  return cmdline.toString();
}

/**
 * What a reset boot entry adds behind the finished command line, after one space. An ISO wipes the whole system disk,
 * a disk image and an installer go back to maintenance mode.
 */
export function wipeArgument(kind: "iso" | "image" | "installer"): string {
  return kind === "iso" ? "talos.experimental.wipe=system" : "talos.experimental.wipe=system:EPHEMERAL,STATE";
}
