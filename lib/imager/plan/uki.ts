/** Adds the unified kernel image: stub, kernel, initramfs and command line in one EFI program. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import type { CommandLine } from "./command-line.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdStub } from "./inputs.ts";
import { addBankDigests, signingOf } from "./secure-boot.ts";

/** A further boot entry inside the UKI (from 1.10): the base command line with something appended. */
export interface UkiProfile {
  id: string;
  title: string;
  /** What this entry has behind the command line, after one space. */
  argument: string;
}

/**
 * Adds the UKI step and what it needs; gives its id. `profiles` are the entries
 * after "main" and must be empty where the version has no UKI profiles. With SecureBoot the image is signed, and
 * measurements of each profile are signed into it.
 */
export function addUki(
  b: PlanBuilder,
  recipe: Recipe,
  commandLine: CommandLine,
  profiles: UkiProfile[],
): string {
  const signing = signingOf(recipe);
  const kernel = addKernel(b, recipe);
  const initramfs = addInitramfs(b, recipe);
  const measured = signing === null ? [] : [addBankDigests(b, kernel), addBankDigests(b, initramfs)];
  const needs = [addSdStub(b, recipe), kernel, initramfs, ...measured];
  const line = (argument?: string) => commandLine.param(needs.length, argument);
  return b.step({
    id: "uki",
    op: "uki",
    phase: "uki",
    title: `Put stub, kernel, initramfs and command line into one${signing === null ? "" : " signed"} EFI program`,
    params: {
      version: recipe.version,
      ...(recipe.distribution === undefined ? {} : { distribution: recipe.distribution }),
      commandLine: line(),
      profiles: profiles.map(({ id, title, argument }) => ({ id, title, commandLine: line(argument) })),
      ...(signing === null ? {} : { certificate: signing.certificate, pcrKey: signing.pcrKey }),
    },
    needs: [...needs, ...commandLine.needs],
    // Made anew in less time than storing it takes: docs/adr/0011-what-is-kept.md.
    part: false,
  });
}
